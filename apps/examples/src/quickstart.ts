/** Train until the loss has fallen, then sample: before and after, side by side. */
import { mkdir, writeFile } from 'node:fs/promises';
import type { SamplingClient } from '@tinkex/clients';
import { ModelInput, nextTokenDatum, type Tokenizer } from '@tinkex/types';
import { lossCurveSvg, sparkline } from './shared/loss-chart.js';
import { runExample } from './shared/run-example.js';
import { openTarget } from './shared/target.js';

const STEPS = 30;
const SENTENCES = [
  'The quick brown fox jumps over the lazy dog.',
  'A journey of a thousand miles begins with a single step.',
  'To be, or not to be, that is the question.',
  'All that glitters is not gold.',
  'Where there is smoke, there is fire.',
];
const PROMPT_CHARACTERS = 8;

await runExample('Usage: npm start\n\nTrains a LoRA adapter on five sentences and samples it before and after.', async ({ signal }) => {
  await using target = await openTarget();
  console.log(`Training on ${target.description}\n`);

  const training = await target.service.createLoraTrainingClient({ baseModel: target.baseModel, rank: 16, signal });
  const tokenizer = await training.getTokenizer({ signal });
  const data = SENTENCES.map((sentence) => nextTokenDatum(ModelInput.fromText(sentence, tokenizer).toInts()));
  const tokens = data.reduce((sum, { modelInput }) => sum + modelInput.length, 0);
  const before = await complete(await training.saveWeightsAndGetSamplingClient({ signal }), tokenizer, signal);

  const losses: number[] = [];
  for (let step = 1; step <= STEPS; step++) {
    const forward = training.forwardBackward(data, 'cross_entropy', { signal }); // submitted now, in call order
    const update = training.optimStep({ learningRate: target.learningRate }, { signal }); // pipelined behind it
    const { metrics } = await forward;
    await update;
    losses.push((metrics['loss:sum'] ?? Number.NaN) / tokens);
    showProgress(step, losses);
  }

  const after = await complete(await training.saveWeightsAndGetSamplingClient({ signal }), tokenizer, signal);
  console.log('\n\nGreedy samples, before → after:');
  for (const [index, sentence] of SENTENCES.entries()) {
    console.log(`  ${sentence.slice(0, PROMPT_CHARACTERS)}…\n    before: ${before[index]}\n    after:  ${after[index]}`);
  }

  const picture = new URL('../out/quickstart-loss.svg', import.meta.url);
  await mkdir(new URL('.', picture), { recursive: true });
  await writeFile(picture, lossCurveSvg('loss per token', losses));
  console.log(`\nLoss per token: ${losses[0]?.toFixed(3)} → ${losses.at(-1)?.toFixed(3)}; curve in apps/examples/out/quickstart-loss.svg`);
  console.log('Next: npm start -- --list shows the other examples; docs/guides explains each part.');
});

async function complete(sampling: SamplingClient, tokenizer: Tokenizer, signal: AbortSignal): Promise<string[]> {
  const responses = await Promise.all(
    SENTENCES.map((sentence) => {
      const prompt = ModelInput.fromText(sentence.slice(0, PROMPT_CHARACTERS), tokenizer);
      return sampling.sample({ prompt, samplingParams: { maxTokens: sentence.length - PROMPT_CHARACTERS, temperature: 0 } }, { signal });
    }),
  );
  return responses.map(({ sequences }, index) => {
    const text = tokenizer.decode(Array.from(sequences[0]?.tokens ?? []));
    return JSON.stringify(SENTENCES[index]?.slice(0, PROMPT_CHARACTERS) + text);
  });
}

function showProgress(step: number, losses: readonly number[]): void {
  const line = `step ${String(step).padStart(2)}/${STEPS}  loss ${losses.at(-1)?.toFixed(3)}  ${sparkline(losses)}`;
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[2K${line}`);
  else if (step % 5 === 0 || step === 1) console.log(line);
}
