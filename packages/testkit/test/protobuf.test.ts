import { create, toBinary } from '@bufbuild/protobuf';
import { datum, dmel, encodedText, image, ModelInput, TensorData, TopkLogprobs, ValidationError } from '@tinkex/types';
import { type ForwardBackwardRequest, ForwardBackwardRequestSchema, protobuf } from '@tinkex/types/wire';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverProtobuf } from '../src/index.js';
import { readSubmissionHead } from '../src/proto/read-request.js';

/** A request with every kind of content. */
const request: ForwardBackwardRequest = {
  modelId: 'm',
  seqId: 7,
  lossFn: 'ppo',
  lossFnConfig: { clip: 0.2, mode: 'sequence' },
  data: [
    {
      modelInput: new ModelInput([
        encodedText([1, 2, 3]),
        image({ data: Uint8Array.of(1, 2), format: 'png', expectedTokens: 4 }),
        dmel(Uint8Array.of(4, 1, 3)),
      ]),
      lossFnInputs: {
        targetTokens: TensorData.fromArray([2, 3], 'int64'),
        weights: TensorData.fromArray([[0, 0, 0, 0, 0, 0, 1]]).toSmallest(),
      },
      provenance: {
        modelInput: [{ kind: 'prompt', sequenceId: 's:0', offset: 300, length: 8 }],
        targetTokens: [{ kind: 'sampled', sequenceId: 's:0', offset: 0, length: 2 }],
      },
    },
  ],
};

const tensor = fc.oneof(
  fc.array(fc.float(), { maxLength: 6 }).map((values) => TensorData.fromArray(Float32Array.from(values))),
  fc
    .array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { maxLength: 6 })
    .map((values) => TensorData.fromArray(BigInt64Array.from(values))),
  fc
    .integer({ min: 1, max: 3 })
    .map((rows) => TensorData.fromArray(new Float32Array(rows * 8).fill(1, 0, 1), 'float32', [rows, 8]).toSmallest()),
);
const chunk = fc.oneof(
  fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { maxLength: 6 }).map(encodedText),
  fc
    .record({
      data: fc.uint8Array(),
      format: fc.constantFrom('png' as const, 'jpeg' as const),
      expectedTokens: fc.option(fc.nat(), { nil: undefined }),
    })
    .map(image),
  fc.uint8Array().map(dmel),
);
const inputs = fc.dictionary(fc.constantFrom('targetTokens', 'weights', 'clipLowThreshold', 'mine', ''), tensor);
const requests: fc.Arbitrary<ForwardBackwardRequest> = fc.record({
  modelId: fc.string({ unit: 'grapheme' }),
  seqId: fc.option(fc.integer({ min: 1, max: 2 ** 31 - 1 }), { nil: undefined }),
  data: fc.array(
    fc.record({ modelInput: fc.array(chunk, { maxLength: 3 }).map((chunks) => new ModelInput(chunks)), lossFnInputs: inputs }),
    { minLength: 1, maxLength: 3 },
  ),
  lossFn: fc.constantFrom('cross_entropy', 'ppo'),
  lossFnConfig: fc.option(
    fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true })), { minKeys: 1 }),
    {
      nil: undefined,
    },
  ),
  forwardOnly: fc.boolean(),
});

describe('what the client writes', () => {
  it('is what the server reads', () => {
    fc.assert(
      fc.property(requests, (request) => {
        expect(serverProtobuf.forwardBackwardRequest.decode(protobuf.forwardBackwardRequest.encode(request))).toEqual(request);
      }),
    );
  });
});

describe('what the server writes', () => {
  it('is what the client reads: outputs of any layout', () => {
    const row = fc.record({ a: tensor.map((one) => one.toDense()), b: tensor.map((one) => one.toDense()) });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 5 }), fc.dictionary(fc.string(), fc.double()), (lossFnOutputs, metrics) => {
        const output = { lossFnOutputType: 'T', lossFnOutputs, metrics };
        expect(protobuf.forwardBackwardOutput.decode(serverProtobuf.forwardBackwardOutput.encode(output))).toEqual(output);
      }),
    );
  });

  it('is what the client reads: samples', () => {
    const sample = {
      sequences: [
        { tokens: Int32Array.of(1, 2), logprobs: Float32Array.of(-1, -2), stopReason: 'length' as const },
        { tokens: new Int32Array(0), stopReason: 'stop' as const },
      ],
      promptLogprobs: Float32Array.of(Number.NaN, -1),
      topkPromptLogprobs: TopkLogprobs.fromList([null, [[5, -0.5]]]),
      promptCacheHitTokens: -3,
    };
    expect(protobuf.sampleResponse.decode(serverProtobuf.sampleResponse.encode(sample))).toEqual(sample);
  });

  it('has the same tensors for every datum', () => {
    const a = TensorData.fromArray([1]);
    const encode = (...lossFnOutputs: Record<string, TensorData>[]) =>
      serverProtobuf.forwardBackwardOutput.encode({ lossFnOutputType: 'T', lossFnOutputs, metrics: {} });
    expect(() => encode({ a }, { b: a })).toThrow(/lossFnOutputs\[1\] has no 'a'/);
    expect(() => encode({ a }, { a, b: a })).toThrow(/lossFnOutputs\[1\] has other tensors/);
  });
});

/** Numbers from 0 to 1 that are the same in every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Changes some bytes, cuts, doubles or inserts. */
function mutate(bytes: Uint8Array, random: () => number): Uint8Array {
  const at = () => Math.floor(random() * bytes.length);
  const kind = Math.floor(random() * 5);
  if (kind === 0) return bytes.slice(0, at());
  if (kind === 1) return Uint8Array.from([...bytes.slice(at()), ...bytes.slice(0, at())]);
  if (kind === 2) return Uint8Array.from({ length: Math.floor(random() * 64) }, () => Math.floor(random() * 256));
  const changed = bytes.slice();
  for (let count = 1 + Math.floor(random() * 4); count > 0; count -= 1) changed[at()] = kind === 3 ? 0xff : Math.floor(random() * 256);
  return changed;
}

/** Anything but a `ValidationError` is a failure; it is reported with the bytes that caused it. */
function survives(decode: () => unknown, input: Uint8Array): boolean {
  try {
    decode();
    return true;
  } catch (error) {
    if (ValidationError.isInstance(error)) return false;
    throw new Error(`decoding ${Array.from(input).join(',')} failed`, { cause: error });
  }
}

const MESSAGES = 40_000;

// Most of the time would go into the stack traces of the expected errors.
const { stackTraceLimit } = Error;
beforeAll(() => {
  Error.stackTraceLimit = 0;
});
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

describe('decoding mutated bytes', () => {
  it(`of ${MESSAGES} requests gives a request or a ValidationError, and a request can be written again`, () => {
    const { decode } = serverProtobuf.forwardBackwardRequest;
    const bytes = protobuf.forwardBackwardRequest.encode(request);
    const random = generator(20260713);
    let valid = 0;
    for (let index = 0; index < MESSAGES; index += 1) {
      const mutated = mutate(bytes, random);
      let value: ForwardBackwardRequest | undefined;
      if (!survives(() => (value = decode(mutated)), mutated)) continue;
      valid += 1;
      survives(() => decode(protobuf.forwardBackwardRequest.encode(value as ForwardBackwardRequest)), mutated);
    }
    expect(valid).toBeGreaterThan(0);
    expect(valid).toBeLessThan(MESSAGES);
  });
});

describe('requests that lie', () => {
  const bytesOf = (...parts: (number | readonly number[])[]) => Uint8Array.from(parts.flat());
  const varint = (value: bigint): number[] => (value < 0x80n ? [Number(value)] : [Number(value & 0x7fn) | 0x80, ...varint(value >> 7n)]);
  const field = (number: number, content: readonly number[]) => [(number << 3) | 2, ...varint(BigInt(content.length)), ...content];

  it('about a shape are refused', () => {
    const tensor = [...field(1, []), 0x18, 1, ...field(4, [...varint(2n ** 40n), ...varint(2n ** 20n)])];
    const datum = field(2, [...field(1, [0x61]), ...field(2, tensor)]);
    expect(() => serverProtobuf.forwardBackwardRequest.decode(bytesOf(field(3, datum), field(4, [0x61])))).toThrow(
      /needs 1152921504606847000 values, but data holds 0/,
    );
  });

  it('about an empty shape are read, and refuse to become arrays', () => {
    const tensor = [...field(1, []), 0x18, 1, ...field(4, [...varint(2n ** 50n), 0])];
    const datum = field(2, [...field(1, [0x61]), ...field(2, tensor)]);
    const { data } = serverProtobuf.forwardBackwardRequest.decode(bytesOf(field(3, datum), field(4, [0x61])));
    expect(data[0]?.lossFnInputs.a?.shape).toEqual([2 ** 50, 0]);
    expect(() => data[0]?.lossFnInputs.a?.toArray()).toThrow(ValidationError);
  });
});

describe('readSubmissionHead', () => {
  const data = [datum({ modelInput: ModelInput.fromInts([1, 2]), lossFnInputs: { targetTokens: [2, 3], weights: [1, 1] } })];

  it('finds model and number among the fields of a request', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), fc.integer({ min: 1, max: 2 ** 31 - 1 }), (modelId, seqId) => {
        const bytes = protobuf.forwardBackwardRequest.encode({ modelId, seqId, data, lossFn: 'cross_entropy', lossFnConfig: { a: 1 } });
        expect(readSubmissionHead(bytes)).toEqual({ modelId, seqId });
      }),
    );
  });

  it('finds them in a request whose data no codec would take', () => {
    const head = protobuf.forwardBackwardRequest.encode({ modelId: 'm', seqId: 7, data, lossFn: 'cross_entropy' });
    const emptyDatum = Uint8Array.of(0x1a, 0);
    const bytes = Uint8Array.of(...head, ...emptyDatum, 0x22, 0);
    expect(() => serverProtobuf.forwardBackwardRequest.decode(bytes)).toThrow();
    expect(readSubmissionHead(bytes)).toEqual({ modelId: 'm', seqId: 7 });
  });

  it('finds nothing in a message without them, or in bytes that are none', () => {
    expect(readSubmissionHead(new Uint8Array())).toBeUndefined();
    expect(readSubmissionHead(Uint8Array.of(0x10, 1))).toBeUndefined();
    expect(readSubmissionHead(Uint8Array.of(0x0a, 1, 0x6d, 0x10, 7, 0x1a, 200))).toBeUndefined();
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void readSubmissionHead(bytes)));
  });
});

describe('fields of newer and older clients', () => {
  const message = { modelId: 'm', seqId: 1, data: [{}], lossFn: 'ppo' };
  const read = (extra: object) =>
    serverProtobuf.forwardBackwardRequest.decode(
      toBinary(ForwardBackwardRequestSchema, create(ForwardBackwardRequestSchema, { ...message, ...extra })),
    );

  it('takes the settings of a client that knows only numbers', () => {
    expect(read({ lossFnConfig: { beta: 0.5 } }).lossFnConfig).toEqual({ beta: 0.5 });
  });

  it('prefers the map that has texts too', () => {
    const lossFnConfigV2 = { beta: { value: { case: 'number', value: 2 } }, mode: { value: { case: 'text', value: '' } } };
    expect(read({ lossFnConfig: { beta: 0.5 }, lossFnConfigV2 }).lossFnConfig).toEqual({ beta: 2, mode: '' });
  });

  it('refuses a setting without a value and a span without content', () => {
    expect(() => read({ lossFnConfigV2: { beta: {} } })).toThrow('the setting beta of the loss function has no value');
    expect(() => read({ data: [{ modelInputSpans: [{}] }] })).toThrow('a span of a datum has no content');
  });

  it('reads an image whose dimensions are overridden, and ignores them', () => {
    const value = { data: Uint8Array.of(1), format: 'png', expectedTokens: 2, overrideDimensions: { width: 8, height: 6 } };
    const [datum] = read({ data: [{ modelInput: [{ chunk: { case: 'image', value } }] }] }).data;
    expect(datum?.modelInput.chunks).toEqual([image({ data: Uint8Array.of(1), format: 'png', expectedTokens: 2 })]);
  });
});
