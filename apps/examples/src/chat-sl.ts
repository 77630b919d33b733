/** Fine-tune a chat model on a JSONL file of conversations. Ctrl-C saves; the next run continues exactly. */
import { fileURLToPath } from 'node:url';
import { conversationsFromJsonl, evaluate, messageText, nllEvaluator, trainSupervised } from '@tinkex/cookbook';
import { conversationToDatum } from '@tinkex/renderers';
import { shownPath } from './shared/output.js';
import { openRecipe, RECIPE_FLAGS } from './shared/recipe.js';
import { runExample } from './shared/run-example.js';
import { quoted } from './shared/terminal.js';

const program = {
  about: 'Trains on conversations and evaluates on held-out ones. Ctrl-C saves; the next run continues exactly where this one stopped.',
  options: {
    data: {
      default: shownPath(fileURLToPath(new URL('../data/conversations.jsonl', import.meta.url))),
      help: 'JSONL, one conversation per line: OpenAI, ShareGPT or Alpaca',
    },
    epochs: { default: '8', help: 'passes over all conversations' },
    'batch-size': { default: '8', help: 'conversations per step' },
    'save-every': { default: '10', help: 'steps between checkpoints' },
  },
  flags: RECIPE_FLAGS,
};

await runExample(program, async ({ signal, options, flags, count }) => {
  const data = conversationsFromJsonl(options.data, { testSize: 8 });
  const { train, test = [] } = await data.load();
  const [batchSize, numEpochs, saveEvery] = [count('batch-size'), count('epochs'), count('save-every')];
  const totalSteps = Math.floor(train.length / batchSize) * numEpochs;
  if (totalSteps === 0) throw new Error(`${counted(train.length)} fewer than a batch. Choose a smaller --batch-size.`);

  await using recipe = await openRecipe({ name: 'chat-sl', metric: 'train_mean_nll', label: 'loss', totalSteps, signal, flags });
  console.log(`Conversations: ${train.length} for training, ${test.length} for evaluation; steps: ${totalSteps}\n`);
  const run = await trainSupervised({ ...recipe.options, data, batchSize, numEpochs, saveEvery, evalEvery: 5 });
  if (!(await recipe.conclude(run)) || test.length === 0) return;

  // The loss on conversations that were never trained on, of the base model and of the new one.
  const { target, renderer } = recipe;
  const heldOut = [nllEvaluator(test.map(({ messages }) => conversationToDatum(messages, renderer)))];
  const before = await evaluate(target.service, { baseModel: target.baseModel }, heldOut);
  const after = await evaluate(target.service, { modelPath: run.samplerPath ?? '' }, heldOut);
  console.log(`Held-out loss: ${before['test/nll']?.toFixed(3)} → ${after['test/nll']?.toFixed(3)}`);

  const ask = await recipe.ask(run.samplerPath);
  for (const { messages } of test.slice(0, 3)) {
    const question = messages.slice(0, -1);
    const { message } = await ask(question, { signal });
    console.log(`  ${messageText(question.at(-1) ?? message)}  →  ${quoted(messageText(message))}`);
  }
});

function counted(conversations: number): string {
  return conversations === 1 ? '1 conversation is' : `${conversations} conversations are`;
}
