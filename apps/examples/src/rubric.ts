/** A model as the judge: it grades answers by a rubric, and its grades are the reward. */
import { judgeRequest, llmJudge, problem, trainRl } from '@tinkex/cookbook';
import { exchange, openRecipe, RECIPE_FLAGS } from './shared/recipe.js';
import { runExample } from './shared/run-example.js';

const RUBRIC = 'The answer is friendly.';
const TASKS = ['tea', 'rain', 'chess', 'bread', 'Mars', 'jazz', 'snow', 'ants'].map((topic) => ({
  topic,
  question: `Say something about ${topic}.`,
}));
const TONES = [
  { tone: 'Gladly: ', score: 1 },
  { tone: 'Fine, ', score: 0 },
  { tone: 'Oh no, ', score: 0 },
];

const program = {
  about: 'Teaches a model to answer in the way that another model prefers, which judges each answer by a rubric.',
  options: { steps: { default: '16', help: 'rounds of sampling and training' } },
  flags: RECIPE_FLAGS,
};

await runExample(program, async ({ signal, flags, count }) => {
  const totalSteps = count('steps');
  const shown = { name: 'rubric', metric: 'env/all/reward/total', label: 'score', totalSteps };
  await using recipe = await openRecipe({ ...shown, signal, flags, embeddedModel: 'tinkex/small', untrainedRate: 0.01 });

  // A chat model answers and judges. Of the embedded one, one copy learns to answer in any tone, another to judge.
  const judged = TASKS.flatMap(({ topic, question }) => TONES.map(({ tone, score }) => ({ question, text: `${tone}${topic}.`, score })));
  const answers = judged.map(({ question, text }) => exchange(question, text));
  const verdicts = judged.map(({ question, text, score }) => {
    const request = judgeRequest({ text, example: { question }, rubric: RUBRIC });
    return { messages: [request, { role: 'assistant', content: `Score: ${score}` }] };
  });
  const start = await recipe.prepare('any-tone', answers, 20);
  const judge = await recipe.prepare('judge', verdicts, 20);

  const grade = llmJudge({ sampler: await recipe.sampler(judge?.samplerPath), renderer: recipe.renderer, rubric: RUBRIC });
  const run = await trainRl({
    ...recipe.options,
    loadCheckpointPath: start?.statePath,
    dataset: TASKS.map(({ question }) => problem({ question, grade: (text, message) => grade({ text, message, example: { question } }) })),
    groupsPerBatch: TASKS.length,
    groupSize: 8,
    numEpochs: totalSteps,
    maxTokens: 32,
  });
  if (!(await recipe.conclude(run))) return;
  const questions = TASKS.slice(0, 3).map(({ question }) => question);
  await recipe.showAnswers(run.samplerPath, questions, 32);
});
