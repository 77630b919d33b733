import type { Row } from './row.js';

const PROGRAM = `
import { createTinkex } from '@tinkex/ai-sdk';
import { ServiceClient } from '@tinkex/clients';
import { startServer } from '@tinkex/testkit';
import { generateText, streamText } from 'ai';

const server = await startServer();
const service = new ServiceClient({ baseUrl: server.url, apiKey: server.apiKey });
const settings = { model: createTinkex({ service })('tinkex/tiny'), prompt: 'Hello', maxOutputTokens: 40, temperature: 0 };
const { text, usage, finishReason } = await generateText(settings);
let streamed = '';
for await (const delta of streamText(settings).textStream) streamed += delta;
await service.close();
await server.close();
console.log(process.version, streamed === text && usage.outputTokens > 0 && ['stop', 'length'].includes(finishReason) ? 'the same text, streamed and not' : [text, streamed, usage]);
process.exit(0);
`;

/** The newest AI SDK, on the Node that it needs. The package itself is developed against the AI SDK that runs on all Nodes that we support. */
export function aiRow(): Row {
  return {
    name: 'AI SDK 7 on Node 22',
    files: { 'chat.mjs': PROGRAM },
    commands: [['npx', '--yes', '-p', 'node@22', 'node', 'chat.mjs']],
    expected: 'the same text, streamed and not',
  };
}
