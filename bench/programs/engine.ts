/** How fast the embedded engine trains and samples, on one core. */
import { learnEngine } from '@tinkex/testkit';
import { type Datum, ModelInput, nextTokenDatum } from '@tinkex/types';
import { program } from '../measure/program.js';
import { median } from '../measure/statistics.js';
import { stopwatch } from '../measure/stopwatch.js';

interface Task {
  readonly work: 'train' | 'sample';
  readonly datums: number;
  readonly tokens: number;
}

const ROUNDS = 5;
const WARM_UP_ROUNDS = 3;
const TEXT = 'It was a bright cold day in the north, and the clocks were striking one; the long road ran down to the sea. ';

function data(datums: number, tokens: number): Datum[] {
  const ids = [...Buffer.from(TEXT.repeat(Math.ceil((tokens + 1 + datums) / TEXT.length)))];
  return Array.from({ length: datums }, (_, shift) => nextTokenDatum(ids.slice(shift, shift + tokens + 1)));
}

async function medianSeconds(work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
    const stop = stopwatch();
    await work();
    if (round >= 0) times.push(stop().cpuMs / 1_000);
  }
  return median(times);
}

await program(async ({ work, datums, tokens }: Task) => {
  const engine = learnEngine();
  const lora = { rank: 8, trainAttn: true, trainMlp: true, trainUnembed: true };
  const model = await engine.createModel({ baseModel: 'tinkex/tiny', lora });
  if (work === 'train') {
    const batch = data(datums, tokens);
    const seconds = await medianSeconds(() => model.forward({ data: batch, lossFn: 'cross_entropy' }, { backward: true }));
    return { tokensPerCpuSecond: (datums * tokens) / seconds };
  }
  const sampler = await engine.createSampler({ baseModel: 'tinkex/tiny', checkpoint: await model.save('sampler') });
  const prompt = ModelInput.fromInts([...Buffer.from('It was')]);
  const input = {
    prompt,
    numSamples: datums,
    promptLogprobs: false,
    topkPromptLogprobs: 0,
    samplingParams: { maxTokens: tokens, seed: 1 },
  };
  let sampled = 0;
  const seconds = await medianSeconds(async () => {
    const { sequences } = await sampler.sample(input);
    sampled = sequences.reduce((sum, sequence) => sum + sequence.tokens.length, 0);
  });
  return { tokensPerCpuSecond: sampled / seconds };
});
