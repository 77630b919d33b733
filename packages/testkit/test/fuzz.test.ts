import { endpoints } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../vectors/read.js';
import { createTestServer, type RouteName, type TestServer } from '../src/index.js';
import { forwardBackwardBody, optimBody, sampleBody } from './raw-client.js';

const ROUNDS = 60_000;
const routes = Object.keys(endpoints) as RouteName[];

interface BodyCase {
  readonly input: { readonly endpoint: string };
  readonly expected: unknown;
}

const cases = readVectors('request-bodies') as BodyCase[];
const lossBodies = readVectors<unknown, Record<string, unknown>>('create-custom-loss').map(({ expected }) => ({
  ...expected,
  session_id: 'sess-0001',
}));
const protobufExample = Buffer.from(
  '0a0e736573732d313a747261696e3a3010011a540a0c0a0a0a08010000000200000012280a0d7461726765745f746f6b656e7312170a10030000000000000004000000000000001802220102121a0a0777656967687473120f0a080000803f0000003f1801220102220d63726f73735f656e74726f7079',
  'hex',
);

/** A small repeatable generator, so that a failure can be found again by its round. */
function generator(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 0x1_0000_0000) * below);
  };
}

const oddities: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1e308,
  0.5,
  2 ** 53 + 2,
  '',
  'x'.repeat(300),
  '\u0000\ud800',
  'tinker://a/weights/b',
  'sess-0001:train:0',
  [],
  [[[[[]]]]],
  {},
  { __proto__: null, constructor: 1, toString: 'x' },
  { chunks: [{ type: 'encoded_text', tokens: [1.5, 'a', null] }] },
  { chunks: [{ type: 'image', data: '!!!', format: 'gif' }] },
  { data: [1, 2, 3], dtype: 'int64', shape: [2, 2] },
  { data: ['NaN'], dtype: 'float32', shape: [-1] },
];

/** A copy with one or two places changed, removed or added. */
function mutated(value: unknown, pick: (below: number) => number): unknown {
  if (pick(4) === 0 || typeof value !== 'object' || value === null) return oddities[pick(oddities.length)];
  const entries = Object.entries(value);
  const at = pick(entries.length + 1);
  const key = entries[at]?.[0] ?? ['extra', '__proto__', 'type', 'seq_id'][pick(4)] ?? 'extra';
  const choice = pick(5);
  if (Array.isArray(value)) {
    const copy = [...value];
    copy[at] = choice === 0 ? undefined : mutated(copy[at], pick);
    return copy;
  }
  const rest = Object.fromEntries(entries.filter(([name]) => name !== key));
  return choice === 0 ? rest : { ...rest, [key]: mutated((value as Record<string, unknown>)[key], pick) };
}

function bodyFor(route: RouteName, pick: (below: number) => number): Uint8Array {
  const { path } = endpoints[route];
  const seeds = [
    ...cases.filter(({ input }) => input.endpoint.endsWith(path)).map(({ expected }) => expected),
    ...(route === 'createCustomLoss' ? lossBodies : []),
    forwardBackwardBody('sess-0001:train:0', 1 + pick(5)),
    optimBody('sess-0001:train:0', 1 + pick(5)),
    sampleBody('sess-0001:sample:0', pick(5)),
  ];
  switch (pick(6)) {
    case 0:
      return Buffer.from(Array.from({ length: pick(200) }, () => pick(256)));
    case 1: {
      const bytes = Buffer.from(protobufExample);
      for (let change = 0; change < 1 + pick(4); change++) bytes[pick(bytes.length)] = pick(256);
      return bytes.subarray(0, pick(3) === 0 ? pick(bytes.length) : bytes.length);
    }
    case 2: {
      const text = JSON.stringify(seeds[pick(seeds.length)]);
      return Buffer.from(text.slice(0, pick(text.length)));
    }
    case 3: {
      const text = Buffer.from(JSON.stringify(seeds[pick(seeds.length)]));
      text[pick(text.length)] = pick(256);
      return text;
    }
    default:
      return Buffer.from(JSON.stringify(mutated(seeds[pick(Math.max(1, seeds.length - 3))] ?? seeds[0], pick)) ?? '');
  }
}

const contentTypes = ['application/json', 'application/x-protobuf', 'application/json; charset=utf-8', 'text/plain', '', undefined];
const queries = [
  '',
  '?limit=-1',
  '?limit=99999999999999999999&offset=x',
  '?access_scope=%ff',
  '?%',
  '?day=2026-13-45',
  '?starting_on=x&ending_before=y',
  '?a=1&a=2',
];
const pathValues = ['x', '..', '%00', '%zz', 'a%2Fb', '__proto__', 'sess-0001:train:0', 'weights/a', 'a'.repeat(2_000)];

async function fuzz(server: TestServer, seed: number, rounds: number): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const pick = generator(seed);
  for (let round = 0; round < rounds; round++) {
    const route = routes[round % routes.length] as RouteName;
    const { method, path } = endpoints[route];
    const target = `${path.replace(/\{\w+\}/g, () => pathValues[pick(pathValues.length)] ?? 'x')}${queries[pick(queries.length)]}`;
    const contentType = pick(3) > 0 ? 'application/json' : contentTypes[pick(contentTypes.length)];
    const headers: Record<string, string> = {
      // A key that revokes itself would end the run.
      'x-api-key': route === 'revokeOwnApiKey' ? `tml-${round}` : server.apiKey,
      'x-idempotency-key': String(pick(1_000)),
      ...(contentType === undefined
        ? {}
        : { 'content-type': route === 'forwardBackward' && pick(2) === 0 ? 'application/x-protobuf' : contentType }),
      ...(pick(20) === 0 ? { 'content-encoding': ['zstd', 'gzip', 'identity'][pick(3)] ?? 'zstd' } : {}),
      ...(pick(10) === 0 ? { 'x-tinker-request-iteration': '\u0001', accept: '%%%' } : {}),
    };
    const { status } = await server.answer({ method, target, headers, body: bodyFor(route, pick) });
    if (status >= 500) throw new Error(`round ${round} of seed ${seed}: ${method} ${target} answered ${status}`);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  return statuses;
}

describe('malformed requests', () => {
  it(`${ROUNDS} of them to all routes get 2xx to 4xx: no crash, no hang, and the server works afterwards`, {
    timeout: 180_000,
  }, async () => {
    const server = createTestServer({ engine: 'canned', dialect: 'both', longPollMs: 0, recorderLimit: 100 });
    const post = async (path: string, body: unknown): Promise<Response> =>
      server.handle(
        new Request(`${server.url}/api/v1/${path}`, {
          method: 'POST',
          headers: { 'x-api-key': server.apiKey, 'content-type': 'application/json', 'x-idempotency-key': crypto.randomUUID() },
          body: JSON.stringify(body),
        }),
      );
    await post('create_session', { tags: [], user_metadata: {}, sdk_version: '0.25.0' });
    const lora = { rank: 4, train_unembed: true, train_mlp: true, train_attn: true };
    await post('create_model', { session_id: 'sess-0001', model_seq_id: 0, base_model: 'tinkex/tiny', lora_config: lora });
    await post('create_sampling_session', { session_id: 'sess-0001', sampling_session_seq_id: 0, base_model: 'tinkex/tiny' });
    const statuses = await fuzz(server, 20_260_101, ROUNDS);
    const total = [...statuses.values()].reduce((sum, count) => sum + count, 0);
    expect(total).toBe(ROUNDS);
    for (const status of [200, 400, 404, 415, 422]) expect(statuses.get(status), `status ${status}`).toBeGreaterThan(100);
    const broken = server.violations.length;
    expect(broken).toBeGreaterThan(10_000);
    server.reset();
    server.verify();
    expect((await post('client/config', { sdk_version: '0.25.0' })).status).toBe(200);
    await server.close();
  });
});
