/** Fine-tune a model, then chat with it on a web page: the answers are streamed through Vercel's AI SDK. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createTinkex } from '@tinkex/ai-sdk';
import { conversationsFromJsonl, trainSupervised } from '@tinkex/cookbook';
import { startFetchServer } from '@tinkex/http/server';
import { convertToModelMessages, streamText, type UIMessage } from 'ai';
import { stayOpen } from './shared/inspection.js';
import { shownPath } from './shared/output.js';
import { openRecipe } from './shared/recipe.js';
import { CommandLineError, runExample } from './shared/run-example.js';

const PAGE = new URL('../data/web-chat.html', import.meta.url);

const program = {
  about: 'Trains on conversations, then serves one page that streams from the fine-tuned model through the AI SDK, until Ctrl-C.',
  options: {
    data: {
      default: shownPath(fileURLToPath(new URL('../data/conversations.jsonl', import.meta.url))),
      help: 'JSONL, one conversation per line: OpenAI, ShareGPT or Alpaca',
    },
    epochs: { default: '8', help: 'passes over all conversations' },
    port: { default: '3000', help: 'of the page; 0 for any free one' },
  },
};

await runExample(program, async ({ signal, options, count }) => {
  if (!/^\d{1,5}$/.test(options.port)) throw new CommandLineError(`--port must be a port number, got ${options.port}.`);
  const data = conversationsFromJsonl(options.data);
  const [batchSize, numEpochs] = [8, count('epochs')];
  const { train } = await data.load();
  const totalSteps = Math.floor(train.length / batchSize) * numEpochs;
  const embeddedModel = 'tinkex/small';
  await using recipe = await openRecipe({ name: 'web-chat', metric: 'train_mean_nll', label: 'loss', totalSteps, signal, embeddedModel });
  const run = await trainSupervised({ ...recipe.options, data, batchSize, numEpochs });
  if (!(await recipe.conclude(run))) return;

  const tinkex = createTinkex({ service: recipe.target.service });
  const model = tinkex(run.samplerPath ?? recipe.target.baseModel);
  const page = await readFile(PAGE, 'utf8');

  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/') return new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } });
    if (pathname !== '/api/chat' || request.method !== 'POST') return new Response('Not found.', { status: 404 });
    // From here on it is what any app with the AI SDK does.
    const { messages } = (await request.json()) as { messages: UIMessage[] };
    const result = streamText({
      model,
      messages: await convertToModelMessages(messages),
      maxOutputTokens: 60,
      temperature: 0,
      abortSignal: request.signal,
    });
    return result.toTextStreamResponse();
  }

  await using server = await startFetchServer(answer, { port: Number(options.port) });
  await stayOpen(server, signal);
});
