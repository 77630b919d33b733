/** Prompt distillation: put a long system prompt into the weights, so that it need not be sent any more. */
import { conversationsFrom, messageText, trainSupervised } from '@tinkex/cookbook';
import type { Conversation, Message } from '@tinkex/renderers';
import { openRecipe, RECIPE_FLAGS } from './shared/recipe.js';
import { runExample } from './shared/run-example.js';
import { quoted } from './shared/terminal.js';

const SYSTEM: Message = { role: 'system', content: 'You label text. Answer with the language only: en, fr or de.' };
const TEXTS = 'Good morning|Bonjour a tous|Guten Morgen|See you soon|A bientot|Bis bald|Thank you|Merci bien|Vielen Dank'.split('|');
const LANGUAGES = ['en', 'fr', 'de'];

const program = {
  about: 'A teacher answers with a long instruction; a student learns to answer the same without it.',
  options: { epochs: { default: '12', help: 'passes over the answers of the teacher' } },
  flags: RECIPE_FLAGS,
};

await runExample(program, async ({ signal, flags, count }) => {
  const numEpochs = count('epochs');
  const shown = { name: 'prompt-distillation', metric: 'train_mean_nll', label: 'loss', totalSteps: numEpochs };
  await using recipe = await openRecipe({ ...shown, signal, flags });

  // A chat model follows the instruction already. The embedded one learns to, with the instruction in front.
  const instructed: Conversation[] = TEXTS.map((text, index) => ({
    messages: [SYSTEM, { role: 'user', content: text }, { role: 'assistant', content: LANGUAGES[index % 3] as string }],
  }));
  const teacher = await recipe.prepare('teacher', instructed, 40);

  // The teacher answers with the instruction; what the student sees has none.
  const askTeacher = await recipe.ask(teacher?.samplerPath, 16);
  const answers = await Promise.all(
    TEXTS.map(async (content): Promise<Conversation> => {
      const question: Message = { role: 'user', content };
      const { message } = await askTeacher([SYSTEM, question], { signal });
      return { messages: [question, { role: 'assistant', content: messageText(message) }] };
    }),
  );
  const data = conversationsFrom(answers);
  const run = await trainSupervised({ ...recipe.options, data, batchSize: TEXTS.length, numEpochs });
  if (!(await recipe.conclude(run))) return;

  const askStudent = await recipe.ask(run.samplerPath, 16);
  const labels = await Promise.all(
    TEXTS.map(async (content) => messageText((await askStudent([{ role: 'user', content }], { signal })).message)),
  );
  const same = labels.filter((label, index) => label === messageText(answers[index]?.messages[1] as Message));
  console.log(`Same answer without the instruction: ${same.length} of ${TEXTS.length}`);
  for (const index of [0, 1, 2]) console.log(`  ${TEXTS[index]}  →  ${quoted(labels[index] ?? '')}`);
});
