import { ModelInput, ServiceClient } from '@tinkex/clients';
import { startServer, type TestServer } from '@tinkex/testkit';
import { datum } from '@tinkex/types';

/** A server with one run and its three kinds of checkpoints. */
export interface SeededServer extends AsyncDisposable {
  readonly server: TestServer;
  /** Leads a command to it. */
  readonly env: Readonly<Record<'TINKER_BASE_URL' | 'TINKER_API_KEY' | 'HOME', string>>;
  readonly runId: string;
  readonly sessionId: string;
  readonly samplerId: string;
  readonly training: string;
  readonly sampler: string;
  readonly external: string;
}

/** A key whose text must never appear in what a command writes. */
export const SECRET_KEY = 'tml-secret-of-the-tests';

/** Starts and fills a server. `home` holds the credentials file. */
export async function startSeededServer(home: string, options: Parameters<typeof startServer>[0] = {}): Promise<SeededServer> {
  const server = await startServer({ apiKeys: [SECRET_KEY], engine: 'canned', ...options });
  const service = new ServiceClient({ baseUrl: server.url, apiKey: SECRET_KEY, userMetadata: { who: 'tests' }, displayName: 'seeded' });
  const client = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 8, userMetadata: { note: 'first' } });
  const example = datum({ modelInput: ModelInput.fromInts([1, 2]), lossFnInputs: { targetTokens: [2, 3], weights: [1, 1] } });
  await client.forwardBackward([example], 'cross_entropy');
  await client.optimStep({ learningRate: 0.01 });
  const { path: training } = await client.saveState('state-1', { ttlSeconds: 7_200 });
  const { path: sampler } = await client.saveWeightsForSampler('final');
  const { path: external } = await client.saveWeightsExternal('files');
  const { samplingSessionId: samplerId } = await service.createSamplingClient({ modelPath: sampler });
  const sessionId = await service.sessionId();
  await service.close();
  return {
    server,
    env: { TINKER_BASE_URL: server.url, TINKER_API_KEY: SECRET_KEY, HOME: home },
    runId: client.modelId,
    sessionId,
    samplerId,
    training,
    sampler,
    external,
    [Symbol.asyncDispose]: () => server.close(),
  };
}
