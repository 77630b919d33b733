/** Direct preference optimization: from pairs of a better and a worse answer, without a reward. */
import { type LabeledComparison, trainDpo } from '@tinkex/cookbook';
import { openRecipe, RECIPE_FLAGS } from './shared/recipe.js';
import { runExample } from './shared/run-example.js';

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
  flags: RECIPE_FLAGS,
};

await runExample(program, async ({ signal, flags, count }) => {
  const [batchSize, numEpochs] = [8, count('epochs')];
  const totalSteps = (comparisons.length / batchSize) * numEpochs;
  await using recipe = await openRecipe({ name: 'dpo', metric: 'dpo_loss', label: 'loss', totalSteps, signal, flags });

  // The model that is to be changed knows both tones.
  const both = comparisons.flatMap(({ comparison: { prompt, completionA, completionB } }) => [
    { messages: [...prompt, ...completionA] },
    { messages: [...prompt, ...completionB] },
  ]);
  const start = await recipe.prepare('both-tones', both, 12);

  const run = await trainDpo({
    ...recipe.options,
    // Preferences need smaller steps than examples.
    learningRate: recipe.isUntrained ? 1e-3 : 1e-5,
    loadCheckpointPath: start?.statePath,
    data: comparisons,
    batchSize,
    numEpochs,
    dpoBeta: 0.2,
  });
  if (!(await recipe.conclude(run))) return;
  console.log(`Prefers the better answer in ${Math.round((run.metrics['accuracy'] ?? 0) * 100)} % of the pairs`);
  const questions = ['tea', 'Mars'].map((topic) => `Tell me about ${topic}`);
  await recipe.showAnswers(run.samplerPath, questions);
});
