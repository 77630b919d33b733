/**
 * A program with an inspector and without one, in one process and in short turns: the effect is smaller than the difference between two processes that run the same
 * program. No page is open.
 */
import { ServiceClient } from '@tinkex/clients';
import { attachInspector } from '@tinkex/inspector';
import { datum, ModelInput } from '@tinkex/types';
import { program } from '../measure/program.js';
import { keepInFlight } from '../measure/repeat.js';
import { median } from '../measure/statistics.js';
import { stopwatch } from '../measure/stopwatch.js';

interface Task {
  readonly work: 'training' | 'sampling';
  readonly baseUrl: string;
  readonly turns: number;
  /** Steps or samples of a turn. */
  readonly count: number;
}

const IN_FLIGHT = 1_000;
const DATUMS = 64;
const TOKENS = 512;

/** As a loop does it: a step is awaited before the next one begins. */
async function trainingLoop(service: ServiceClient): Promise<(steps: number) => Promise<void>> {
  const training = await service.createLoraTrainingClient({ baseModel: 'bench' });
  const data = Array.from({ length: DATUMS }, (_, row) => {
    const ids = Int32Array.from({ length: TOKENS }, (_entry, column) => (row * 31 + column) % 50_000);
    return datum({ modelInput: ModelInput.fromInts(ids), lossFnInputs: { targetTokens: ids, weights: new Float32Array(TOKENS).fill(1) } });
  });
  return async (steps) => {
    for (let step = 0; step < steps; step += 1) {
      const pass = training.forwardBackward(data, 'cross_entropy');
      await training.optimStep({ learningRate: 1e-4 });
      await pass;
    }
  };
}

async function manySamples(service: ServiceClient): Promise<(calls: number) => Promise<void>> {
  const sampling = await service.createSamplingClient({ baseModel: 'bench' });
  const prompt = ModelInput.fromInts(Array.from({ length: 32 }, (_, index) => index * 7 + 3));
  const samplingParams = { maxTokens: 16, temperature: 0.7 };
  return (calls) => keepInFlight(() => sampling.sample({ prompt, numSamples: 1, samplingParams }), calls, IN_FLIGHT);
}

await program(async ({ work, baseUrl, turns, count }: Task) => {
  const service = new ServiceClient({ baseUrl, apiKey: 'tml-bench', telemetry: false });
  const run = await (work === 'training' ? trainingLoop : manySamples)(service);
  const cpuMs = async (): Promise<number> => {
    const stop = stopwatch();
    await run(count);
    return stop().cpuMs;
  };
  const watchedCpuMs = async (): Promise<number> => {
    await using _inspector = await attachInspector({ log: () => undefined });
    return cpuMs();
  };
  const ratios: number[] = [];
  // The first turns warm up.
  for (let turn = -turns; turn < turns; turn += 1) {
    const isBareFirst = turn % 2 === 0;
    const first = await (isBareFirst ? cpuMs() : watchedCpuMs());
    const second = await (isBareFirst ? watchedCpuMs() : cpuMs());
    if (turn >= 0) ratios.push(isBareFirst ? second / first : first / second);
  }
  return { cpuRatio: median(ratios) };
});
