import { ServiceClient, type ServiceClientOptions } from '@tinkex/clients';
import type { AttachedInspector } from '@tinkex/inspector';
import { getLr, modelNames } from '@tinkex/renderers';
import { startServer, type TestServer, type TestServerOptions } from '@tinkex/testkit';
import { NotFoundError } from '@tinkex/types';
import { type InspectedRun, openInspection, stayOpen } from './inspection.js';

/** The service that an example runs on, ready to use. */
export interface Target extends AsyncDisposable {
  readonly service: ServiceClient;
  readonly baseModel: string;
  /** A learning rate that suits the model: the embedded one is tiny and learns fast. */
  readonly learningRate: number;
  /** The embedded server; undefined on a real service. */
  readonly server: TestServer | undefined;
  /** One line for the user. */
  readonly description: string;
  /** The page of the run; undefined without `--inspect`. */
  readonly inspector: AttachedInspector | undefined;
}

/** Options of {@link openTarget}. */
export interface TargetOptions {
  readonly signal: AbortSignal;
  /** The service to use. Default: the one that `TINKER_BASE_URL`, `TINKER_API_KEY` and `TINKEX_BASE_MODEL` name, if any. */
  readonly named?: NamedService | undefined;
  /** Options of the embedded server, which is used if no service is named. */
  readonly embedded?: TestServerOptions | undefined;
  /** The model of the embedded server. Default `tinkex/tiny`, which sees little of a prompt; `tinkex/small` reads all of it. */
  readonly embeddedModel?: EmbeddedModel | undefined;
  /** Opens the page of the run, with this said about it. Default: there is no page. */
  readonly inspected?: InspectedRun | undefined;
}

/** A service as environment variables name it. What is not set has the defaults of {@link ServiceClient}. */
export interface NamedService {
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  /** A command that prints a key, instead of a key. */
  readonly credentialCommand?: string | undefined;
  /** Default: the first model that the service offers. */
  readonly baseModel?: string | undefined;
}

/** The models of the embedded engine. */
export type EmbeddedModel = 'tinkex/tiny' | 'tinkex/small';

/** Opens the named service, or else the embedded engine on loopback, which needs no account. An example runs the same code on both. */
export async function openTarget({ inspected, ...options }: TargetOptions): Promise<Target> {
  const target = await openService(options);
  if (inspected === undefined) return { ...target, inspector: undefined };
  const inspector = await openInspection(target, inspected);
  return {
    ...target,
    inspector,
    async [Symbol.asyncDispose]() {
      await stayOpen(inspector, options.signal);
      await inspector.close();
      await target[Symbol.asyncDispose]();
    },
  };
}

type Service = Omit<Target, 'inspector'>;

async function openService({
  signal,
  named = serviceOfEnvironment(),
  embedded = {},
  embeddedModel = 'tinkex/tiny',
}: Omit<TargetOptions, 'inspected'>): Promise<Service> {
  const { baseUrl, apiKey, credentialCommand } = named;
  if (baseUrl || apiKey || credentialCommand) {
    const options = {
      ...(baseUrl ? { baseUrl } : {}),
      ...(apiKey ? { apiKey } : {}),
      ...(credentialCommand ? { credentialCommand } : {}),
    };
    const baseModel = await checkServer(options, named.baseModel, signal);
    const service = new ServiceClient(options);
    return {
      service,
      baseModel,
      learningRate: learningRateFor(baseModel),
      server: undefined,
      description: `${baseModel} at ${service.baseUrl}`,
      [Symbol.asyncDispose]: () => finish(service, signal),
    };
  }
  const server = await startServer({ ...embedded, baseModels: [embeddedModel] });
  const service = new ServiceClient(server.clientOptions);
  return {
    service,
    baseModel: embeddedModel,
    learningRate: learningRateFor(embeddedModel),
    server,
    description: `${embeddedModel}, the embedded engine (no account)`,
    async [Symbol.asyncDispose]() {
      await finish(service, signal);
      await server.close();
    },
  };
}

/** Ends the session: `interrupted` after Ctrl-C. A person at a terminal does not wait long for a server that is gone. */
async function finish(service: ServiceClient, signal: AbortSignal): Promise<void> {
  try {
    await service.close(signal.aborted ? 'interrupted' : 'success', { timeoutMs: 5_000 });
  } catch {
    // The example reports what went wrong before; a session without heartbeats ends anyway.
  }
}

function serviceOfEnvironment(): NamedService {
  const { TINKER_BASE_URL, TINKER_API_KEY, TINKER_CREDENTIAL_CMD, TINKEX_BASE_MODEL } = process.env;
  return { baseUrl: TINKER_BASE_URL, apiKey: TINKER_API_KEY, credentialCommand: TINKER_CREDENTIAL_CMD, baseModel: TINKEX_BASE_MODEL };
}

/** What the cookbook recommends for a model of the table; a middle value for others. */
function learningRateFor(baseModel: string): number {
  if (baseModel.startsWith('tinkex/')) return 2e-2;
  return modelNames().includes(baseModel) ? getLr(baseModel) : 4e-4;
}

/**
 * Returns the model to use. A service client waits a long time for a server that does not answer; a person at a terminal does not. So a first
 * client with short limits checks the server and reports what is wrong.
 */
async function checkServer(options: ServiceClientOptions, baseModel: string | undefined, signal: AbortSignal): Promise<string> {
  await using service = new ServiceClient({ ...options, maxRetries: 3, maxRetryMs: 0, attemptTimeoutMs: 5_000 });
  try {
    const { supportedModels } = await service.getServerCapabilities({ signal, timeoutMs: 15_000 });
    const name = baseModel || supportedModels[0]?.modelName;
    if (name === undefined) throw new Error('The server offers no model. Set TINKEX_BASE_MODEL to the one you want.');
    return name;
  } catch (error) {
    if (baseModel && NotFoundError.isInstance(error)) return baseModel; // some servers do not list their models
    throw error;
  }
}
