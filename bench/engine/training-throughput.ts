/**
 * How many tokens per second the embedded engine trains (forward and backward) and samples on one core, and whether that is linear in tokens.
 *
 *   npx tsx --conditions=@tinkex/source bench/engine/training-throughput.ts
 *
 * Prints a table and, as its last line, the same numbers as JSON. Time is this process's CPU time, best of several rounds, so that other work on
 * the machine counts as little as possible.
 */
import { type EngineModel, learnEngine } from '@tinkex/testkit';
import { ByteTokenizer, type Datum, ModelInput, nextTokenDatum } from '@tinkex/types';

const ROUNDS = 7;
const WARM_UP_ROUNDS = 3;
const STEPS = 20;
const TEXT = 'It was a bright cold day in the north, and the clocks were striking one; the long road ran down to the sea. ';

const engine = learnEngine();
const tokenizer = new ByteTokenizer();

function data(datumCount: number, tokensPerDatum: number): Datum[] {
  const tokens = tokenizer.encode(TEXT.repeat(Math.ceil((tokensPerDatum + 1 + datumCount) / TEXT.length)));
  return Array.from({ length: datumCount }, (_, shift) => nextTokenDatum(tokens.slice(shift, shift + tokensPerDatum + 1)));
}

async function bestSeconds(work: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    const start = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(start);
    if (round >= WARM_UP_ROUNDS) best = Math.min(best, (user + system) / 1e6);
  }
  return best;
}

function createModel(rank: number): Promise<EngineModel> {
  const lora = { rank, trainAttn: true, trainMlp: true, trainUnembed: true };
  return Promise.resolve(engine.createModel({ baseModel: 'tinkex/tiny', lora }));
}

async function tokensPerSecond(model: EngineModel, batch: Datum[], backward: boolean): Promise<number> {
  const tokens = batch.reduce((sum, { modelInput }) => sum + modelInput.length, 0);
  return tokens / (await bestSeconds(async () => model.forward({ data: batch, lossFn: 'cross_entropy' }, { backward })));
}

interface Row {
  readonly case: string;
  readonly value: number;
  readonly unit: string;
}

const rows: Row[] = [];
const add = (name: string, value: number, unit: string) => rows.push({ case: name, value: Math.round(value * 100) / 100, unit });

for (const rank of [8, 32]) {
  const model = await createModel(rank);
  const batch = data(16, 512);
  add(`rank ${rank}: forward + backward`, await tokensPerSecond(model, batch, true), 'tokens/s');
  add(`rank ${rank}: forward only`, await tokensPerSecond(model, batch, false), 'tokens/s');
  const step = await bestSeconds(async () => {
    for (let count = 0; count < STEPS; count++) await model.optimStep({ learningRate: 1e-3 });
  });
  add(`rank ${rank}: optimizer step`, (1000 * step) / STEPS, 'ms');
}

const model = await createModel(8);
const sizes = [1, 4, 16, 64].map((datumCount) => ({ datumCount, tokensPerDatum: 256 }));
for (const { datumCount, tokensPerDatum } of [...sizes, { datumCount: 1, tokensPerDatum: 16_384 }]) {
  const rate = await tokensPerSecond(model, data(datumCount, tokensPerDatum), true);
  add(`rank 8: ${datumCount} x ${tokensPerDatum} tokens`, rate, 'tokens/s');
}

const sampler = await engine.createSampler({ baseModel: 'tinkex/tiny', checkpoint: await model.save('sampler') });
for (const samplingParams of [{ temperature: 0 }, { temperature: 1, seed: 1 }, { temperature: 1, topP: 0.9, topK: 50, seed: 1 }]) {
  let sampled = 0;
  const seconds = await bestSeconds(async () => {
    const input = { prompt: ModelInput.fromText('It was', tokenizer), numSamples: 8, promptLogprobs: false, topkPromptLogprobs: 0 };
    const { sequences } = await sampler.sample({ ...input, samplingParams: { maxTokens: 256, ...samplingParams } });
    sampled = sequences.reduce((sum, { tokens }) => sum + tokens.length, 0);
  });
  add(`sampling ${JSON.stringify(samplingParams)}`, sampled / seconds, 'tokens/s');
}

console.table(rows);
console.log(JSON.stringify({ bench: 'engine', node: process.version, rows }));
