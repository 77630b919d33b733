import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  dmel,
  encodedText,
  type ForwardBackwardOutput,
  image,
  ModelInput,
  type SampleResponse,
  TensorData,
  TopkLogprobs,
  ValidationError,
} from '../src/index.js';
import {
  type ForwardBackwardRequest,
  forwardBackwardOutput,
  forwardBackwardRequest,
  parseJson,
  protobuf,
  sampleResponse,
  stringifyJson,
} from '../src/wire.js';
import { outputBytes, sampleBytes } from './messages.js';

const request: ForwardBackwardRequest = {
  modelId: 'm',
  seqId: 7,
  lossFn: 'ppo',
  lossFnConfig: { clip: 0.2 },
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
    },
  ],
};
const output: ForwardBackwardOutput = {
  lossFnOutputType: 'T',
  lossFnOutputs: [{ a: TensorData.fromArray([[1], [2]]) }, { a: TensorData.fromArray([[3]]) }],
  metrics: { 'loss:mean': 1 },
};
const sample: SampleResponse = {
  sequences: [
    {
      tokens: Int32Array.of(1, 2),
      logprobs: Float32Array.of(-1, -2),
      stopReason: 'length',
      topkLogprobs: TopkLogprobs.fromList([[[1, -0.5]], [[2, -0.25]]]),
    },
  ],
  promptLogprobs: Float32Array.of(Number.NaN, -1),
  topkPromptLogprobs: TopkLogprobs.fromList([null, [[5, -0.5]]]),
  targetPromptLogprobs: TensorData.fromArray([[0, 0, 0, 0, 0, 0, -1]]).toSmallest(),
  promptAltTokens: { tokens: TensorData.fromArray([[4, 5]], 'int64'), logprobs: TensorData.fromArray([[-1, -2]]) },
  promptCacheHitTokens: 3,
};

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
  it.each([
    ['ForwardBackwardOutput', protobuf.forwardBackwardOutput.decode, outputBytes, outputBytes(output)],
    ['SampleResponse', protobuf.sampleResponse.decode, sampleBytes, sampleBytes(sample)],
  ] as const)(
    `of ${MESSAGES} %s messages gives a value or a ValidationError, and a value can be written again`,
    (_name, decode, encode, bytes) => {
      const random = generator(20260713);
      let valid = 0;
      for (let index = 0; index < MESSAGES; index += 1) {
        const mutated = mutate(bytes, random);
        let value: unknown;
        const isValid = survives(() => {
          value = decode(mutated);
        }, mutated);
        if (!isValid) continue;
        valid += 1;
        survives(() => decode(encode(value as never)), mutated);
      }
      expect(valid).toBeGreaterThan(0);
      expect(valid).toBeLessThan(MESSAGES);
    },
  );

  it.each([
    ['ForwardBackwardRequest', forwardBackwardRequest.decode, stringifyJson(forwardBackwardRequest.encode(request))],
    ['ForwardBackwardOutput', forwardBackwardOutput.decode, stringifyJson(forwardBackwardOutput.encode(output))],
    ['SampleResponse', sampleResponse.decode, stringifyJson(sampleResponse.encode(sample))],
  ] as const)('of 4000 %s texts gives a value or a ValidationError', (_name, decode, text) => {
    const random = generator(17);
    const bytes = new TextEncoder().encode(text);
    let valid = 0;
    for (let index = 0; index < 4000; index += 1) {
      const mutated = mutate(bytes, random);
      if (survives(() => decode(parseJson(mutated)), mutated)) valid += 1;
    }
    expect(valid).toBeGreaterThan(0);
  });
});

describe('messages that lie', () => {
  const bytesOf = (...parts: (number | readonly number[])[]) => Uint8Array.from(parts.flat());
  const varint = (value: bigint): number[] => (value < 0x80n ? [Number(value)] : [Number(value & 0x7fn) | 0x80, ...varint(value >> 7n)]);
  const field = (number: number, content: readonly number[]) => [(number << 3) | 2, ...varint(BigInt(content.length)), ...content];

  it('about the number of data do not fill the memory', () => {
    const record = [...field(1, [0x54]), 0x18, ...varint(2n ** 60n)];
    expect(() => protobuf.forwardBackwardOutput.decode(bytesOf(field(2, record)))).toThrow(/claims 1152921504606846976 data/);
  });

  it('about the size of a matrix are refused', () => {
    const topk = field(3, [0x18, ...varint(2n ** 31n), 0x20, ...varint(2n ** 31n)]);
    expect(() => protobuf.sampleResponse.decode(bytesOf(topk))).toThrow(/too few bytes/);
  });

  it('about the length of a field are refused', () => {
    expect(() => protobuf.sampleResponse.decode(bytesOf(0x0a, varint(2n ** 31n - 1n)))).toThrow(ValidationError);
  });

  it('about a sparse shape do not expand', () => {
    const sparse = new TensorData({
      data: new Float32Array(0),
      dtype: 'float32',
      shape: [0, 2 ** 50],
      sparseCrowIndices: BigInt64Array.of(0n),
      sparseColIndices: new BigInt64Array(0),
    });
    expect(sparse.toDense().length).toBe(0);
    const wide = new TensorData({
      data: new Float32Array(0),
      dtype: 'float32',
      shape: [1, 2 ** 50],
      sparseCrowIndices: BigInt64Array.of(0n, 0n),
      sparseColIndices: new BigInt64Array(0),
    });
    expect(() => wide.toDense()).toThrow(/too large to expand/);
  });

  it('and nested groups without an end are refused', () => {
    expect(() => protobuf.sampleResponse.decode(new Uint8Array(100_000).fill(0x7b))).toThrow(ValidationError);
  });
});
