/** Train a model and watch the loss fall, then compare samples from before and after. */
import type { SamplingClient } from '@tinkex/clients';
import { lossOf, ModelInput, nextTokenDatum, type Tokenizer } from '@tinkex/types';
import { INSPECT_HELP } from './shared/inspection.js';
import { lineChartSvg, seriesOf } from './shared/line-chart.js';
import { LiveCurve } from './shared/live-curve.js';
import { writeOutput } from './shared/output.js';
import { runExample } from './shared/run-example.js';
import { sideBySide } from './shared/side-by-side.js';
import { openTarget } from './shared/target.js';
import { quoted } from './shared/terminal.js';

const STEPS = 30;
const SENTENCES = [
  'The quick brown fox jumps over the lazy dog.',
  'A stitch in time saves nine.',
  'To be, or not to be, that is the question.',
  'All that glitters is not gold.',
  'Fortune favors the bold, so be brave.',
];
const PROMPT_CHARACTERS = 8;

const program = {
  about: 'Trains a LoRA adapter on five sentences and samples from it before and after.',
  flags: { inspect: INSPECT_HELP },
};

await runExample(program, async ({ signal, flags }) => {
  const inspected = flags.inspect ? { name: 'quickstart', rank: 16, totalSteps: STEPS } : undefined;
  await using target = await openTarget({ signal, inspected });
  console.log(`Training on ${target.description}\n`);

  const training = await target.service.createLoraTrainingClient({ baseModel: target.baseModel, rank: 16, signal });
  const tokenizer = await training.getTokenizer({ signal });
  const data = SENTENCES.map((sentence) => nextTokenDatum(ModelInput.fromText(sentence, tokenizer).toInts()));
  const tokens = data.reduce((sum, { modelInput }) => sum + modelInput.length, 0);
  const before = await complete(await training.saveWeightsAndGetSamplingClient({ retry: true, signal }), tokenizer, signal);

  const curve = new LiveCurve({ name: 'loss', totalSteps: STEPS, signal });
  for (let step = 1; step <= STEPS; step++) {
    const forward = training.forwardBackward(data, 'cross_entropy', { signal }); // submitted now, in call order
    const update = training.optimStep({ learningRate: target.learningRate / 4 }, { signal }); // pipelined behind it
    const output = await forward;
    await update;
    curve.add((lossOf(output, data) ?? Number.NaN) / tokens);
    if (step === 1 || step === STEPS) target.inspector?.addExamples(data, { tokenizer, output, step });
  }

  const { path } = await training.saveWeightsForSampler('quickstart', { signal });
  const after = await complete(await target.service.createSamplingClient({ modelPath: path, retry: true, signal }), tokenizer, signal);
  console.log(`\nGreedy samples, given the first ${PROMPT_CHARACTERS} characters:\n${sideBySide({ before, after })}`);

  const picture = await writeOutput(
    'quickstart-loss.svg',
    lineChartSvg({ title: 'Loss per token', series: [seriesOf('train', curve.values)] }),
  );
  console.log(`\nLoss per token: ${curve.values[0]?.toFixed(3)} → ${curve.values.at(-1)?.toFixed(3)}`);
  console.log(`Loss curve: ${picture}`);
  console.log('\nNext: npm start -- --list shows the other examples;\ndocs/guides/README.md explains each part.');
});

async function complete(sampling: SamplingClient, tokenizer: Tokenizer, signal: AbortSignal): Promise<string[]> {
  const responses = await Promise.all(
    SENTENCES.map((sentence) => {
      const prompt = ModelInput.fromText(sentence.slice(0, PROMPT_CHARACTERS), tokenizer);
      return sampling.sample({ prompt, samplingParams: { maxTokens: sentence.length - PROMPT_CHARACTERS, temperature: 0 } }, { signal });
    }),
  );
  return responses.map(({ sequences }, index) => {
    const text = tokenizer.decode(sequences[0]?.tokens ?? []);
    return quoted(SENTENCES[index]?.slice(0, PROMPT_CHARACTERS) + text);
  });
}
