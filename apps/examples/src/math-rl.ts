/** Reinforcement learning from a reward that a program can check: sums. */
import { problem, trainRl } from '@tinkex/cookbook';
import { exchange, openRecipe, RECIPE_FLAGS } from './shared/recipe.js';
import { CommandLineError, runExample } from './shared/run-example.js';

const SUMS = [3, 5, 8, 9].flatMap((a) => [2, 4, 6, 7].map((b) => ({ question: `${a} + ${b} = ? Answer with the number.`, sum: a + b })));
const LOSSES = ['importance_sampling', 'ppo', 'cispo'] as const;

const program = {
  about: 'Teaches a model to add, by rewarding right answers.',
  options: {
    steps: { default: '16', help: 'rounds of sampling and training' },
    loss: { default: LOSSES[0], help: LOSSES.join(', ') },
  },
  flags: RECIPE_FLAGS,
};

await runExample(program, async ({ signal, options, flags, count }) => {
  const lossFn = LOSSES.find((name) => name === options.loss);
  if (lossFn === undefined) throw new CommandLineError(`--loss must be one of ${LOSSES.join(', ')}, got ${options.loss}.`);
  const totalSteps = count('steps');
  const shown = { name: 'math-rl', metric: 'env/all/correct', label: 'correct', totalSteps };
  await using recipe = await openRecipe({ ...shown, signal, flags, embeddedModel: 'tinkex/small' });

  // A chat model answers in the right form. The embedded one learns to, from answers of which one in three is right.
  const guesses = SUMS.flatMap(({ question, sum }) => [sum - 1, sum, sum + 2].map((guess) => exchange(question, String(guess))));
  const start = await recipe.prepare('guesses', guesses, 10);

  const run = await trainRl({
    ...recipe.options,
    loadCheckpointPath: start?.statePath,
    dataset: SUMS.map(({ question, sum }) => problem({ question, grade: (text) => text.trim() === String(sum) })),
    groupsPerBatch: SUMS.length,
    groupSize: 8,
    numEpochs: totalSteps,
    maxTokens: 12,
    lossFn,
    // The clipped losses take two steps per batch: they keep the policy close to the one that sampled.
    numSubsteps: lossFn === 'importance_sampling' ? 1 : 2,
  });
  if (!(await recipe.conclude(run))) return;
  const questions = SUMS.slice(0, 3).map(({ question }) => question);
  await recipe.showAnswers(run.samplerPath, questions, 12);
});
