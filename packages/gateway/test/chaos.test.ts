import { ServiceClient } from '@tinkex/clients';
import { type ChaosKind, createTestServer, memoryTransport, VirtualClock } from '@tinkex/testkit';
import { expect, it } from 'vitest';
import { createGateway, serviceModels } from '../src/index.js';
import { eventData } from './harness/legal-order.js';

/** `npm run gateway` runs 100. */
const SEEDS = Number(process.env['TINKEX_GATEWAY_SEEDS'] ?? 4);
const KINDS: readonly ChaosKind[] = ['reset', 'close', 'truncate', 'status-500', 'status-503', 'status-429', 'status-408'];
const CLEAN = [408, 429, 500, 503, 504, 529];

const ASKED = { model: 'tinkex/tiny', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] };
const REQUESTS = ['/v1/chat/completions', '/v1/messages'].flatMap((path) =>
  [false, true].map((stream) => ({ path, body: JSON.stringify({ ...ASKED, stream, ...(path === '/v1/messages' ? {} : { seed: 7 }) }) })),
);

/** Whether the answer is whole. Fails unless it is, or ends with an error in the shape of its API. */
function isWhole(path: string, status: number, text: string): boolean {
  const isStream = /^(data|event):/.test(text);
  const last = isStream ? eventData(text).at(-1) : text;
  if (last === '[DONE]') return true;
  const json = JSON.parse(last ?? '') as { readonly type?: string; readonly error?: { readonly message?: string; readonly type?: string } };
  if (json.error === undefined) return path === '/v1/messages' ? json.type === (isStream ? 'message_stop' : 'message') : !isStream;
  expect(json.error.message).toMatch(/\w{3}/);
  expect(typeof json.error.type).toBe('string');
  if (!isStream) expect(CLEAN).toContain(status);
  return false;
}

/** Settles work on a virtual clock that skips every backoff. */
async function skipBackoffs<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isSettled = false;
  const settled = work.finally(() => {
    isSettled = true;
  });
  settled.catch(() => undefined);
  while (!isSettled) {
    for (let turn = 0; turn < 12; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    // Longer waits are deadlines of requests, which are being answered.
    if (!isSettled && (clock.nextInMs ?? Number.POSITIVE_INFINITY) < 20_000) await clock.advance(clock.nextInMs as number);
  }
  return settled;
}

/** What the requests get through a bad network between gateway and server. */
async function answersUnder(seed: number) {
  const server = createTestServer();
  const chaos = server.chaos({ seed, rate: 0.25, kinds: KINDS });
  const clock = new VirtualClock();
  const service = new ServiceClient({
    ...server.clientOptions,
    transport: memoryTransport(server),
    clock,
    random: () => 0.5,
    telemetry: false,
  });
  const gateway = createGateway({ models: serviceModels(service), pieceTokens: 4 });
  try {
    const answered = Promise.all(
      REQUESTS.map(async ({ path, body }) => {
        const response = await gateway(new Request(`http://localhost${path}`, { method: 'POST', body }));
        return isWhole(path, response.status, await response.text());
      }),
    );
    return { whole: await skipBackoffs(clock, answered), faults: chaos.faults };
  } finally {
    await service.close();
    await server.close();
  }
}

it(`answers whole or with a clean error under ${SEEDS} seeds of faults between gateway and server`, async () => {
  let [whole, faults] = [0, 0];
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const outcome = await answersUnder(seed);
    whole += outcome.whole.filter(Boolean).length;
    faults += outcome.faults;
  }
  expect(faults).toBeGreaterThan(SEEDS);
  expect(whole).toBeGreaterThan(0);
  expect(whole).toBeLessThan(SEEDS * REQUESTS.length);
});
