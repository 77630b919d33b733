import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ServiceClient, type ServiceClientOptions } from '../../packages/clients/src/index.js';
import { nextTokenDatum } from '../../packages/types/src/index.js';

/** A call of the user. It runs several times; what comes before each time is not part of it. */
export interface MeasuredCall {
  readonly name: string;
  readonly before?: () => Promise<unknown>;
  readonly run: () => PromiseLike<unknown>;
}

const DATA = [nextTokenDatum([1, 2, 3, 4])];
const SAMPLE = { prompt: [1, 2, 3], samplingParams: { maxTokens: 4 } };

/** The calls that we watch, on one client and a server in another process. Call `close` at the end. */
export async function startCalls(): Promise<{ readonly calls: readonly MeasuredCall[]; readonly close: () => Promise<void> }> {
  const server = fork(fileURLToPath(new URL('./server.ts', import.meta.url)));
  const [connect] = (await once(server, 'message')) as [ServiceClientOptions];
  const service = new ServiceClient({ ...connect, telemetry: false });
  const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 2 });
  const sampling = await service.createSamplingClient({ baseModel: 'tinkex/tiny' });
  const patient = await service.createSamplingClient({ baseModel: 'tinkex/tiny', retry: true });
  const refuseOnce = (): Promise<unknown> => {
    server.send('refuse');
    return once(server, 'message');
  };
  const calls: readonly MeasuredCall[] = [
    { name: 'training.getInfo()', run: () => training.getInfo() },
    { name: 'training.optimStep()', run: () => training.optimStep({ learningRate: 0.01 }) },
    { name: 'training.forwardBackward()', run: () => training.forwardBackward(DATA, 'cross_entropy') },
    { name: 'sampling.sample()', run: () => sampling.sample(SAMPLE) },
    { name: 'sample, answered 429, retry off', before: refuseOnce, run: () => sampling.sample(SAMPLE).then(unexpected, () => undefined) },
    { name: 'sample, answered 429, retry on', before: refuseOnce, run: () => patient.sample(SAMPLE) },
  ];
  const close = async (): Promise<void> => {
    await service.close();
    server.disconnect();
  };
  return { calls, close };
}

function unexpected(): never {
  throw new Error('The call succeeded in spite of a 429.');
}
