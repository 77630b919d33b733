/** Direct preference optimization: from pairs of a better and a worse answer, without a reward. */
import { type LabeledComparison, messageText, trainDpo } from '@tinkex/cookbook';
import { openRecipe } from './shared/recipe.js';
import { runExample } from './shared/run-example.js';
import { quoted } from './shared/terminal.js';

const TOPICS = ['tea', 'rain', 'chess', 'bread', 'Mars', 'jazz', 'snow', 'ants'];
const POLITE = 'Gladly. ';
const RUDE = 'Whatever. ';

/** Which of two answers is better; `comparisonsFromJsonl` reads them from a file. */
const comparisons: LabeledComparison[] = TOPICS.map((topic, index) => {
  const answer = (tone: string) => [{ role: 'assistant' as const, content: `${tone}${topic} it is.` }];
  const [completionA, completionB] = index % 2 === 0 ? [answer(POLITE), answer(RUDE)] : [answer(RUDE), answer(POLITE)];
  return {
    comparison: { prompt: [{ role: 'user', content: `Tell me about ${topic}` }], completionA, completionB },
    label: index % 2 === 0 ? 'A' : 'B',
  };
});

const program = {
  about: 'Teaches a model to prefer polite answers, by comparisons of a polite and a rude one.',
  options: { epochs: { default: '10', help: 'passes over all comparisons' } },
  flags: { fresh: 'discard an interrupted run and start from the beginning' },
};

await runExample(program, async ({ signal, flags: { fresh }, count }) => {
  const [batchSize, numEpochs] = [8, count('epochs')];
  const totalSteps = (comparisons.length / batchSize) * numEpochs;
  await using recipe = await openRecipe({ name: 'dpo', metric: 'dpo_loss', label: 'loss', totalSteps, signal, fresh });

  // The model that is to be changed knows both tones.
  const both = comparisons.flatMap(({ comparison: { prompt, completionA, completionB } }) => [
    { messages: [...prompt, ...completionA] },
    { messages: [...prompt, ...completionB] },
  ]);
  const start = recipe.target.server === undefined ? undefined : await recipe.prepare('both-tones', both, 12);

  const { options, renderer } = recipe;
  // Preferences need smaller steps than examples.
  const learningRate = recipe.target.server === undefined ? 1e-5 : 1e-3;
  const run = await trainDpo({
    ...options,
    learningRate,
    renderer,
    loadCheckpointPath: start?.statePath,
    data: comparisons,
    batchSize,
    numEpochs,
    dpoBeta: 0.2,
  });
  if (!(await recipe.conclude(run))) return;
  console.log(`Prefers the better answer in ${Math.round((run.metrics['accuracy'] ?? 0) * 100)} % of the pairs`);
  const ask = await recipe.ask(run.samplerPath);
  for (const topic of ['tea', 'Mars']) {
    const { message } = await ask([{ role: 'user', content: `Tell me about ${topic}` }], { signal });
    console.log(`  ${topic}  →  ${quoted(messageText(message))}`);
  }
});
