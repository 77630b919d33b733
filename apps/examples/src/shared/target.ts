import { ServiceClient } from '@tinkex/clients';
import { HttpClient } from '@tinkex/http';
import { startServer, type TestServer } from '@tinkex/testkit';
import { ApiStatusError, endpoints } from '@tinkex/types';

/** Where an example runs, ready to use. */
export interface Target extends AsyncDisposable {
  readonly service: ServiceClient;
  readonly baseModel: string;
  /** A learning rate that suits the model: the embedded one is tiny and learns fast. */
  readonly learningRate: number;
  /** The embedded server; undefined on a real service. */
  readonly server: TestServer | undefined;
  /** One line for the user. */
  readonly description: string;
}

/** Options of {@link openTarget}. */
export interface TargetOptions {
  readonly signal: AbortSignal;
  /** A folder in which the embedded server keeps its state from run to run. Default: it forgets. */
  readonly stateDir?: string;
}

const EMBEDDED_MODEL = 'tinkex/tiny';

/**
 * The embedded engine on loopback, with no account; or the service that `TINKER_API_KEY` and `TINKER_BASE_URL` name, with the model of
 * `TINKEX_BASE_MODEL` or else the first one the service offers. The code of an example is the same for both.
 */
export async function openTarget({ signal, stateDir }: TargetOptions): Promise<Target> {
  if (process.env.TINKER_API_KEY || process.env.TINKER_BASE_URL) {
    const service = new ServiceClient();
    await checkReachable(service.baseUrl, signal);
    const baseModel = process.env.TINKEX_BASE_MODEL || (await firstModel(service, signal));
    return {
      service,
      baseModel,
      learningRate: learningRateFor(baseModel),
      server: undefined,
      description: `${baseModel} at ${service.baseUrl}`,
      [Symbol.asyncDispose]: () => service.close(),
    };
  }
  const server = await startServer(stateDir === undefined ? {} : { stateDir });
  const service = new ServiceClient(server.clientOptions);
  return {
    service,
    baseModel: EMBEDDED_MODEL,
    learningRate: learningRateFor(EMBEDDED_MODEL),
    server,
    description: `${EMBEDDED_MODEL}, the embedded engine, at ${server.url} (no account needed)`,
    async [Symbol.asyncDispose]() {
      await service.close();
      await server.close();
    },
  };
}

function learningRateFor(baseModel: string): number {
  return baseModel === EMBEDDED_MODEL ? 2e-2 : 4e-4;
}

/** A service client is patient with a server that does not answer. A person at a terminal is not: ask once, briefly, before starting. */
async function checkReachable(baseUrl: string, signal: AbortSignal): Promise<void> {
  const http = new HttpClient({ baseUrl, maxRetries: 3, timeoutMs: 10_000 });
  try {
    await http.request({ method: endpoints.healthz.method, path: endpoints.healthz.path, signal });
  } catch (error) {
    if (!ApiStatusError.isInstance(error)) throw error; // an answer is an answer: the first real call will say more
  } finally {
    await http.close();
  }
}

async function firstModel(service: ServiceClient, signal: AbortSignal): Promise<string> {
  const { supportedModels } = await service.getServerCapabilities({ signal });
  const name = supportedModels[0]?.modelName;
  if (name === undefined) throw new Error('The server offers no model. Set TINKEX_BASE_MODEL to the one you want.');
  return name;
}
