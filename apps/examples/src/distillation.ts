/** On-policy distillation: the student answers, and a teacher scores every token of its answers. */
import { distillOnPolicy, promptGroup } from '@tinkex/cookbook';
import { exchange, openRecipe, RECIPE_FLAGS } from './shared/recipe.js';
import { runExample } from './shared/run-example.js';

const CITIES = ['Paris', 'Tokyo', 'Cairo', 'Lima', 'Oslo', 'Havana', 'Athens', 'Nairobi'];
const QUESTIONS = ['France', 'Japan', 'Egypt', 'Peru', 'Norway', 'Cuba', 'Greece', 'Kenya'].map(
  (country) => `What is the capital of ${country}?`,
);

const program = {
  about: 'A student learns from a teacher on its own answers: each token is rewarded by how likely the teacher finds it.',
  options: {
    steps: { default: '12', help: 'rounds of answering and training' },
    teacher: { default: 'Qwen/Qwen3-32B', help: 'the model to learn from; on the embedded engine, one that is trained for it' },
  },
  flags: RECIPE_FLAGS,
};

await runExample(program, async ({ signal, options, flags, count }) => {
  const totalSteps = count('steps');
  const shown = { name: 'distillation', metric: 'teacher_kl', label: 'distance from the teacher', totalSteps };
  await using recipe = await openRecipe({ ...shown, signal, flags, embeddedModel: 'tinkex/small' });

  // Of the embedded model one copy learns the capitals, and another only that the answer is a city.
  const known = QUESTIONS.map((question, index) => exchange(question, CITIES[index] ?? ''));
  const guessed = QUESTIONS.flatMap((question, index) =>
    [0, 1, 2].map((other) => exchange(question, CITIES[(index + other) % CITIES.length] ?? '')),
  );
  const expert = await recipe.prepare('teacher', known, 30);
  const start = await recipe.prepare('student', guessed, 20);

  const teacher = expert?.samplerPath === undefined ? { baseModel: options.teacher } : { modelPath: expert.samplerPath };
  const run = await distillOnPolicy({
    ...recipe.options,
    loadCheckpointPath: start?.statePath,
    datasets: [{ groups: QUESTIONS.map((question) => promptGroup(question)), teacher }],
    groupsPerBatch: QUESTIONS.length,
    groupSize: 8,
    numEpochs: totalSteps,
    maxTokens: 16,
  });
  if (!(await recipe.conclude(run))) return;
  const answers = await recipe.showAnswers(run.samplerPath, QUESTIONS, 16);
  const right = answers.filter((answer, index) => answer.includes(CITIES[index] ?? ''));
  console.log(`Right: ${right.length} of ${QUESTIONS.length}`);
});
