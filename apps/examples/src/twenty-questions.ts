/** Twenty questions between two models: one asks and learns to find the secret, another answers. */
import { type MessageEnv, messageEnvGroup, messageText, trainRl } from '@tinkex/cookbook';
import type { Completer, Message } from '@tinkex/renderers';
import { exchange, openRecipe, RECIPE_FLAGS } from './shared/recipe.js';
import { runExample } from './shared/run-example.js';

const RULES = 'Find my secret: cow, ant, bus or pin. Ask "Is it alive?" or "Is it big?", or guess like "A cow!".';
const QUESTIONS = ['Is it alive?', 'Is it big?'];
const FACTS = { cow: ['yes', 'yes'], ant: ['yes', 'no'], bus: ['no', 'yes'], pin: ['no', 'no'] };
const THINGS = Object.entries(FACTS).map(([secret, answers]) => ({ secret, answers }));
const told = (content: string): Message => ({ role: 'user', content });
const said = (content = ''): Message => ({ role: 'assistant', content });
const about = (secret: string, question = '') => `The secret is: ${secret}. Answer yes or no: ${question}`;

const program = {
  about: 'Teaches a model to find a secret with questions, which another model answers.',
  options: { steps: { default: '20', help: 'rounds of playing and training' } },
  flags: RECIPE_FLAGS,
};

await runExample(program, async ({ signal, flags, count }) => {
  const totalSteps = count('steps');
  const shown = { name: 'twenty-questions', metric: 'env/all/reward/total', label: 'found', totalSteps };
  await using recipe = await openRecipe({ ...shown, signal, flags, embeddedModel: 'tinkex/small', hasTurns: true, untrainedRate: 0.006 });

  // Chat models know the game. Of the embedded one, one copy learns to answer, another to ask and then to guess anything.
  const facts = THINGS.flatMap(({ secret, answers }) => answers.map((answer, at) => exchange(about(secret, QUESTIONS[at]), answer)));
  const games = THINGS.flatMap(({ answers }) => {
    const asked = answers.flatMap((answer, at) => [said(QUESTIONS[at]), told(answer)]);
    return THINGS.map(({ secret: guess }) => ({ messages: [told(RULES), ...asked, said(`A ${guess}!`)] }));
  });
  const answerer = await recipe.ask((await recipe.prepare('answerer', facts, 30))?.samplerPath, 8);
  const start = await recipe.prepare('player', games, 40);

  const run = await trainRl({
    ...recipe.options,
    loadCheckpointPath: start?.statePath,
    dataset: THINGS.map(({ secret }) => messageEnvGroup({ makeEnv: () => game(secret, answerer), tags: [secret] })),
    groupsPerBatch: THINGS.length,
    groupSize: 16,
    numEpochs: totalSteps,
    maxTokens: 24,
  });
  await recipe.conclude(run);
});

/** The other model answers until the player guesses, which is after the last question at the latest. */
function game(secret: string, answerer: Completer, messages = [told(RULES)]): MessageEnv {
  return {
    initialMessages: () => messages,
    async step(message) {
      const [, guess] = /^an? (\w+)!/i.exec(messageText(message)) ?? [];
      const episodeDone = guess !== undefined || messages.length > 2 * QUESTIONS.length;
      messages.push(message);
      const question = told(about(secret, messageText(message)));
      if (!episodeDone) messages.push(told(messageText((await answerer([question])).message)));
      return { reward: Number(guess === secret), episodeDone, messages };
    },
  };
}
