import { ServiceClient, type ServiceClientOptions } from '@tinkex/clients';
import { startServer } from '@tinkex/testkit';

/** Where an example runs, ready to use. */
export interface Target extends AsyncDisposable {
  readonly service: ServiceClient;
  readonly baseModel: string;
  /** A learning rate that suits the model: the embedded one is tiny and learns fast. */
  readonly learningRate: number;
  readonly isEmbedded: boolean;
  /** One line for the user. */
  readonly description: string;
}

const EMBEDDED_MODEL = 'tinkex/tiny';

/**
 * The embedded engine on loopback, with no account; or the service that `TINKER_API_KEY` and `TINKER_BASE_URL` name, with the model of
 * `TINKEX_BASE_MODEL` or else the first one the service offers. The code of an example is the same for both.
 */
export async function openTarget(options: ServiceClientOptions = {}): Promise<Target> {
  if (process.env.TINKER_API_KEY || process.env.TINKER_BASE_URL) {
    const service = new ServiceClient(options);
    const baseModel = process.env.TINKEX_BASE_MODEL || (await firstModel(service));
    return {
      service,
      baseModel,
      learningRate: baseModel === EMBEDDED_MODEL ? 2e-2 : 1e-4,
      isEmbedded: false,
      description: `${baseModel} at ${service.baseUrl}`,
      [Symbol.asyncDispose]: () => service.close(),
    };
  }
  const server = await startServer();
  const service = new ServiceClient({ ...server.clientOptions, ...options });
  return {
    service,
    baseModel: EMBEDDED_MODEL,
    learningRate: 2e-2,
    isEmbedded: true,
    description: `${EMBEDDED_MODEL}, the embedded engine, at ${server.url} (no account needed)`,
    async [Symbol.asyncDispose]() {
      await service.close();
      await server.close();
    },
  };
}

async function firstModel(service: ServiceClient): Promise<string> {
  const { supportedModels } = await service.getServerCapabilities();
  const name = supportedModels[0]?.modelName;
  if (name === undefined) throw new Error('The server offers no model. Set TINKEX_BASE_MODEL to the one you want.');
  return name;
}
