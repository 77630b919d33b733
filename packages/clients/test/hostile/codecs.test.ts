import { inspect } from 'node:util';
import { ModelInput, ValidationError } from '@tinkex/types';
import { endpoints, parseJson, protobuf } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import type { ServiceClient } from '../../src/index.js';
import { passOutput, protobufMessage, sampleOutput } from './honest-service.js';
import { HOSTILE_JSON, longTexts, mutations } from './hostile-values.js';
import { message, varint } from './protobuf-bytes.js';
import { datums, isFull, isTo, randomOf, SEED, sampleOf, startRig, tinkexFailure, valueOrTinkexError } from './rig.js';

const LIMIT = { timeout: isFull ? 900_000 : 120_000 };
/** Enough that quadratic time is longer than anybody waits. */
const LONG = 1_000_000;
const NOW = '2026-11-19T00:00:00Z';

/** What every client reads, and which call makes it read it. */
const ANSWERS: readonly {
  readonly route: string;
  readonly honest: unknown;
  readonly call: (service: ServiceClient) => PromiseLike<unknown>;
}[] = [
  {
    route: 'get_server_capabilities',
    honest: { supported_models: [{ model_name: 'm', max_context_length: 5, trainable: true }] },
    call: (service) => service.getServerCapabilities(),
  },
  {
    route: 'create_session',
    honest: { session_id: 'S', info_message: 'hello', warning_message: null },
    call: (service) => service.createSamplingClient({ baseModel: 'base' }),
  },
  {
    route: 'create_sampling_session',
    honest: { sampling_session_id: 'S:sample:0' },
    call: (service) => service.createSamplingClient({ baseModel: 'base' }),
  },
  {
    route: 'sessions',
    honest: { sessions: ['a', 'b'] },
    call: (service) => service.createRestClient().listSessions({ limit: 2 }),
  },
  {
    route: 'training_runs/r/checkpoints',
    honest: {
      checkpoints: [
        { checkpoint_id: 'weights/1', checkpoint_type: 'training', time: NOW, tinker_path: 'tinker://r/weights/1', size_bytes: 7 },
      ],
      cursor: { offset: 0, limit: 1, total_count: 1 },
    },
    call: (service) => service.createRestClient().listCheckpoints('r'),
  },
  {
    route: 'weights_info',
    honest: { base_model: 'base', is_lora: true, lora_rank: 3, optimizer_config: { type: 'adamw' } },
    call: (service) => service.createRestClient().getWeightsInfoByTinkerPath('tinker://r/weights/1'),
  },
];

describe(`JSON (seed ${SEED})`, LIMIT, () => {
  it.each(ANSWERS)('no answer of $route gives anything but a value or an error of ours', async ({ route, honest, call }) => {
    const texts = HOSTILE_JSON.flatMap((hostile) => mutations(honest, hostile));
    const depth = 100_000;
    const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const others = [
      deep,
      ['{"a":'.repeat(depth), '1', '}'.repeat(depth)].join(''),
      '{',
      '',
      ' ',
      '\u0000',
      'undefined',
      '<html>',
      '"',
      '[1,]',
      '\ufeff{}',
    ];
    let body = '';
    await using rig = await startRig(
      (request, wire) => isTo(request, route) && wire.send({ headers: { 'content-type': 'application/json' }, body }),
      { maxRetries: 0, maxRetryMs: 0 },
    );
    for (const text of [...sampleOf(route, texts, 60), ...others]) {
      body = text;
      const outcome = await valueOrTinkexError(call(rig.service));
      if ('error' in outcome) expect(outcome.error.message.length).toBeLessThan(2_000);
      expect(Object.prototype).not.toHaveProperty('polluted');
    }
  });

  it.each(sampleOf('settings', SETTINGS_OF_SERVERS(), 12))(
    'a server with the setting %s is used or refused, and nothing hangs',
    async (config) => {
      await using rig = await startRig(
        (request, wire) => isTo(request, 'client/config') && wire.send({ headers: { 'content-type': 'application/json' }, body: config }),
        { maxRetries: 0, maxRetryMs: 0 },
      );
      await valueOrTinkexError(
        rig.service
          .createSamplingClient({ baseModel: 'base' })
          .then((client) => client.sample({ prompt: ModelInput.fromInts([5]), samplingParams: { maxTokens: 2 } })),
      );
      await valueOrTinkexError(
        rig.service
          .createLoraTrainingClient({ baseModel: 'base' })
          .then((client) => client.forwardBackward(datums(1, 2, 3), 'cross_entropy')),
      );
    },
  );
});

/** Each flag with each absurd value. */
function SETTINGS_OF_SERVERS(): readonly string[] {
  const flags = [
    'sample_dispatch_bytes_semaphore_size',
    'inflight_response_bytes_semaphore_size',
    'fwdbwd_max_chunk_len',
    'fwdbwd_max_chunk_bytes_count',
    'fwdbwd_dispatch_bytes_semaphore_size',
    'billing_exception_max_pause_duration_sec',
    'sample_max_concurrent_requests',
  ];
  const values = ['-5', '0', '0.5', '1e308', '9007199254740993', 'null', '"7"', '[]', '{}', 'true'];
  return flags.flatMap((flag) => values.map((value) => `{"${flag}":${value}}`));
}

describe('long text', LIMIT, () => {
  it.each(sampleOf('long', longTexts(LONG), 6).map((text) => [text.slice(0, 8), text]))(
    '%s… in any field costs what its length costs',
    (_start, text) => {
      for (const { honest } of ANSWERS) for (const json of mutations(honest, `"${text}"`)) parseJson(new TextEncoder().encode(json));
      const readers = [
        endpoints.getServerCapabilities.response,
        endpoints.createSession.response,
        endpoints.listCheckpoints.response,
        endpoints.weightsInfo.response,
      ];
      const plain = JSON.parse(`"${text}"`) as string;
      for (const { honest } of ANSWERS) {
        const mark = '\u0001';
        for (const json of mutations(honest, JSON.stringify(mark))) {
          const value: unknown = JSON.parse(json, (_key, it: unknown) => (it === mark ? plain : it));
          for (const reader of readers) {
            try {
              reader.decode(value);
            } catch (error) {
              expect(error).toBeInstanceOf(ValidationError);
              expect((error as Error).message.length).toBeLessThan(2_000);
              expect(inspect(error).length).toBeLessThan(20_000);
            }
          }
        }
      }
    },
  );

  it.each(['', '~int64:', '1234567890123456789'])('numbers of any size beside a megabyte of %s~ stay exact', (unit) => {
    const value = parseJson(new TextEncoder().encode(`["${`~${unit}`.repeat(LONG / (unit.length + 1))}",12345678901234567890]`));
    expect((value as unknown[])[1]).toBe(12345678901234567890n);
  });

  it('the error about a long answer is as long as the one about an answer of twice the length', async () => {
    let length = 0;
    await using rig = await startRig(
      (request, wire) =>
        isTo(request, 'get_server_capabilities') &&
        wire.send({
          status: 400,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ detail: 'no '.repeat(length / 3) }),
        }),
    );
    const sizes: number[] = [];
    for (length of [100_000, 200_000]) sizes.push((await tinkexFailure(rig.service.getServerCapabilities())).message.length);
    expect(sizes[0]).toBeLessThan(2_000);
    expect(Math.abs((sizes[0] ?? 0) - (sizes[1] ?? 0))).toBeLessThan(10);
  });
});

describe(`protobuf (seed ${SEED})`, LIMIT, () => {
  const samples = { sample: sampleOutput(5, 3), pass: passOutput([1, 2, 3]) };
  const decoders = {
    sample: (bytes: Uint8Array) => protobuf.sampleResponse.decode(bytes),
    pass: (bytes: Uint8Array) => protobuf.forwardBackwardOutput.decode(bytes),
  };

  it.each(['sample', 'pass'] as const)('no damage to a %s gives anything but a value or a ValidationError', (kind) => {
    const random = randomOf(kind);
    const count = isFull ? 400_000 : 20_000;
    for (let round = 0; round < count; round += 1) {
      const bytes = damaged(samples[kind], random);
      try {
        decoders[kind](bytes);
      } catch (error) {
        if (!(error instanceof ValidationError)) throw new Error(`${SEED}/${round}: ${bytes.toString('hex')}`, { cause: error });
      }
    }
  });

  it.each([
    ['a length of 2^31', Buffer.concat([Buffer.from([0x0a]), varint(2n ** 31n)])],
    ['a length of 2^63', Buffer.concat([Buffer.from([0x0a]), varint(2n ** 63n)])],
    ['a varint without an end', Buffer.alloc(100_000, 0xff)],
    ['a million groups', Buffer.alloc(1_000_000, 0x0b)],
    ['2^62 data without tensors', message([2, Buffer.concat([Buffer.from([0x18]), varint(2n ** 62n)])])],
    ['a negative number of data', message([2, Buffer.concat([Buffer.from([0x18]), varint(2n ** 64n - 1n)])])],
    [
      'a shape of 2^62',
      message([
        2,
        message(
          [
            2,
            message(
              [1, 'x'],
              [2, message([1, Buffer.alloc(4)], [2, Buffer.alloc(16)], [3, 1], [4, Buffer.concat([varint(2n ** 62n), varint(2n ** 62n)])])],
            ),
          ],
          [3, 1],
        ),
      ]),
    ],
    [
      'a matrix of 2^32 by 2^32',
      message([
        1,
        message([
          4,
          Buffer.concat([
            message([1, ''], [2, '']),
            Buffer.from([0x18]),
            varint(2n ** 32n - 1n),
            Buffer.from([0x20]),
            varint(2n ** 32n - 1n),
          ]),
        ]),
      ]),
    ],
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('{"sequences":[]}')],
  ])('%s costs no more memory than its bytes', async (_name, bytes) => {
    const before = process.memoryUsage();
    for (const decode of Object.values(decoders)) {
      try {
        decode(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(ValidationError);
      }
    }
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(64 * 1024 * 1024);
    await using rig = await startRig((request, wire) => isTo(request, 'retrieve_future') && wire.send(protobufMessage(bytes)));
    const client = await rig.service.createSamplingClient({ baseModel: 'base' });
    const outcome = await valueOrTinkexError(client.sample({ prompt: ModelInput.fromInts([5]), samplingParams: { maxTokens: 2 } }));
    // The library reads a length of 2^63 as 0: an empty sequence is all that may come of it.
    if ('value' in outcome) expect(outcome.value.sequences.flatMap(({ tokens }) => [...tokens])).toEqual([]);
  });
});

/** A copy with some bytes changed, removed or repeated. */
function damaged(honest: Buffer, random: () => number): Buffer {
  let bytes = Buffer.from(honest);
  const times = 1 + Math.floor(random() * 4);
  for (let time = 0; time < times; time += 1) {
    const at = Math.floor(random() * (bytes.length + 1));
    const kind = Math.floor(random() * 4);
    if (kind === 0 && at < bytes.length) bytes[at] = Math.floor(random() * 256);
    else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + Math.floor(random() * 4))]);
    else if (kind === 2)
      bytes = Buffer.concat([bytes.subarray(0, at), varint(BigInt(Math.floor(random() * 2 ** 52)) ** 2n % 2n ** 64n), bytes.subarray(at)]);
    else
      bytes = Buffer.concat([
        bytes.subarray(0, at),
        bytes.subarray(Math.floor(random() * bytes.length), Math.floor(random() * bytes.length)),
        bytes.subarray(at),
      ]);
  }
  return bytes;
}
