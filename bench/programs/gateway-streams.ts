/** The memory of streams that a gateway has open, each of which has had its first text and waits for more. The client is another process. */
import { ServiceClient } from '@tinkex/clients';
import { startGateway } from '@tinkex/gateway';
import { getRenderer, type Message, type Sampler, toRendererTokenizer } from '@tinkex/renderers';
import { program } from '../measure/program.js';
import { heldBytes } from '../measure/stopwatch.js';
import type { ClientResult } from './gateway-client.js';
import { HelperProcess } from './helper-process.js';

const MODEL = 'tinkex/tiny';
const MESSAGES: readonly Message[] = [{ role: 'user', content: 'What is the quickest way to the other side of the river?' }];

await program(async ({ streams }: { readonly streams: number }) => {
  const server = new HelperProcess('gateway-server', {});
  const { url: baseUrl } = await server.ask<{ url: string }>({});
  const service = new ServiceClient({ baseUrl, apiKey: 'tml-bench', telemetry: false });
  const tokenizer = toRendererTokenizer(await (await service.createSamplingClient({ baseModel: MODEL })).getTokenizer());
  const renderer = getRenderer('role_colon', tokenizer);
  await service.close();
  await server.end();
  const promptTokens = renderer.buildGenerationPrompt(MESSAGES).length;
  let waiting = 0;
  let reach = (): void => undefined;
  let release: Promise<void> | undefined;
  const sampler: Sampler = {
    async sample({ prompt, samplingParams: { maxTokens = 1 } }) {
      if (prompt.length > promptTokens) {
        waiting += 1;
        reach();
        await release;
      }
      return { sequences: [{ tokens: Int32Array.from(tokenizer.encode('a'.repeat(maxTokens))), stopReason: 'length' }] };
    },
  };
  const gateway = await startGateway({ models: { [MODEL]: { sampler, renderer } } });
  const stream = { stream: true, stream_options: { include_usage: true } };
  const body = JSON.stringify({ model: MODEL, max_tokens: 16, messages: MESSAGES, ...stream });
  const client = new HelperProcess('gateway-client', { url: gateway.url, apiKey: gateway.apiKey, body });
  const open = (count: number) => client.ask<ClientResult>({ calls: count, inFlight: count });
  // Compiles what all streams share.
  await open(streams);
  const before = { held: heldBytes(), resident: process.memoryUsage().rss };
  let free = (): void => undefined;
  release = new Promise((resolve) => {
    free = resolve;
  });
  waiting = 0;
  const allWait = new Promise<void>((resolve) => {
    reach = () => {
      if (waiting === streams) resolve();
    };
  });
  const answered = open(streams);
  await allWait;
  const after = { held: heldBytes(), resident: process.memoryUsage().rss };
  free();
  const { tokens } = await answered;
  if (tokens !== streams * 16) throw new Error(`${tokens} tokens arrived instead of ${streams * 16}.`);
  await client.end();
  await gateway.close();
  return {
    kilobytesPerStream: (after.held - before.held) / streams / 1_000,
    residentMegabytes: (after.resident - before.resident) / 1e6,
  };
});
