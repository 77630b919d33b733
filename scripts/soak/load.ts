import { type SamplingClient, ServiceClient, type ServiceClientOptions } from '../../packages/clients/src/index.js';
import { nextTokenDatum } from '../../packages/types/src/index.js';

/** What the load has done so far. */
export interface LoadCounts {
  samples: number;
  steps: number;
  /** Failures that surfaced in spite of the retries, by their code. */
  readonly failures: Map<string, number>;
}

/** Many samplers and one training loop on one client, until it is stopped. */
export interface Load {
  readonly counts: LoadCounts;
  /** Ends the loops, waits for the calls under way and closes the client. */
  stop(): Promise<void>;
}

const SAMPLING_CLIENTS = 10;
const STEPS_BETWEEN_SAVES = 50;

/** Starts the load. */
export async function startLoad(options: ServiceClientOptions, samplers: number): Promise<Load> {
  const service = new ServiceClient({ ...options, heartbeatIntervalMs: 2_000, telemetry: false });
  const counts: LoadCounts = { samples: 0, steps: 0, failures: new Map() };
  let isStopping = false;
  const note = (error: unknown): void => {
    const code = String((error as { code?: unknown }).code ?? error);
    counts.failures.set(code, (counts.failures.get(code) ?? 0) + 1);
  };
  const clients = await Promise.all(
    Array.from({ length: SAMPLING_CLIENTS }, () => service.createSamplingClient({ baseModel: 'tinkex/tiny', retry: true })),
  );
  const sample = async (client: SamplingClient, number: number): Promise<void> => {
    while (!isStopping) {
      await client.sample({ prompt: [number % 200, 1, 2], samplingParams: { maxTokens: 8 } }).then(() => {
        counts.samples += 1;
      }, note);
    }
  };
  const train = async (): Promise<void> => {
    const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 2 });
    const data = Array.from({ length: 8 }, (_, row) => nextTokenDatum([row, 2, 3, 4]));
    while (!isStopping) {
      const pass = training.forwardBackward(data, 'cross_entropy');
      const step = training.optimStep({ learningRate: 0.01 });
      await Promise.all([pass, step]).then(() => {
        counts.steps += 1;
      }, note);
      if (counts.steps % STEPS_BETWEEN_SAVES === 0) await training.saveState('soak', { overwrite: true }).then(() => undefined, note);
    }
  };
  const loops = Array.from({ length: samplers }, (_, index) => sample(clients[index % SAMPLING_CLIENTS] as SamplingClient, index));
  loops.push(train());
  return {
    counts,
    stop: async () => {
      isStopping = true;
      await Promise.all(loops);
      await service.close();
    },
  };
}
