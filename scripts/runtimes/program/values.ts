/** Values that every dialect must carry unharmed, small and large, made the same way in every runtime. */
import {
  dmel,
  encodedText,
  type ForwardBackwardOutput,
  image,
  imageAssetPointer,
  ModelInput,
  nextTokenDatum,
  type SampleResponse,
  TensorData,
  TopkPromptLogprobs,
} from '../../../packages/types/src/index.js';
import type { ForwardBackwardRequest } from '../../../packages/types/src/wire.js';

/** The extremes of int64, and the first whole numbers that a double cannot hold. */
export const extremeIntegers = BigInt64Array.of(
  ...[-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 32n, -(2n ** 31n), 0n, -1n],
);

/** Numbers that only the protobuf dialect can carry. */
export const extremeFloats = Float32Array.of(
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  -0,
  1.1754943508222875e-38,
  1e-45,
);

/** Numbers that both dialects can carry. */
export const finiteFloats = Float32Array.of(0, 1, -0.1, 3.4028234663852886e38, 1.401298464324817e-45, 1 / 3, 16_777_216);

const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte);

/** One chunk of each kind that training takes. */
const trainable = new ModelInput([
  encodedText([1, 2_147_483_647, -2_147_483_648]),
  encodedText([]),
  image({ data: everyByte, format: 'png', expectedTokens: 5 }),
  // Lengths that end base64 with one and with two signs of padding.
  image({ data: everyByte.subarray(0, 1), format: 'jpeg' }),
  image({ data: everyByte.subarray(0, 2), format: 'jpeg' }),
  dmel(Uint8Array.of(4, 2, 3, 80, 0, 0, 0, 0)),
]);

/** One chunk of each kind. */
export const everyChunk = trainable.append(imageAssetPointer({ location: 'gs://bucket/é😀.jpg', format: 'jpeg', expectedTokens: 3 }));

/** A request with every kind of chunk and tensor. */
export function everyRequest(floats: Float32Array): ForwardBackwardRequest {
  const sparse = TensorData.fromArray([
    [0, 0, 0, 0.5],
    [0, 0, 0, 0],
    [0, 0, 0, -2],
  ]).toSmallest();
  return {
    modelId: 'sess-😀:train:0',
    seqId: 7,
    lossFn: 'importance_sampling',
    lossFnConfig: { clip: 0.2, scale: 1e-300 },
    forwardOnly: false,
    data: [
      {
        modelInput: trainable,
        lossFnInputs: { targetTokens: TensorData.fromArray(extremeIntegers), weights: TensorData.fromArray(floats) },
      },
      { modelInput: ModelInput.fromInts([1, 2, 3]), lossFnInputs: { weights: sparse, empty: TensorData.fromArray(new Float32Array(0)) } },
      nextTokenDatum([10, 11, 12, 13], { promptLength: 2 }),
    ],
  };
}

/** A result with two tensors an example. */
export function everyOutput(floats: Float32Array): ForwardBackwardOutput {
  return {
    lossFnOutputType: 'TorchLossReturn',
    lossFnOutputs: [
      { logprobs: TensorData.fromArray(floats), ids: TensorData.fromArray(extremeIntegers) },
      { logprobs: TensorData.fromArray(new Float32Array(1)), ids: TensorData.fromArray(BigInt64Array.of(3n)) },
    ],
    metrics: { 'loss:sum': 3.5, 'tiny:mean': 5e-324 },
  };
}

/** An answer with every field of a sample. */
export function everySample(floats: Float32Array): SampleResponse {
  return {
    sequences: [
      { stopReason: 'length', tokens: Int32Array.from(floats, (_, index) => index * 7), logprobs: floats },
      { stopReason: 'stop', tokens: Int32Array.of(2_147_483_647) },
    ],
    promptLogprobs: Float32Array.of(Number.NaN, -1.5, -2.25),
    topkPromptLogprobs: TopkPromptLogprobs.fromList([
      null,
      [
        [5, -0.5],
        [6, -1.5],
      ],
      [[7, -0.25]],
    ]),
    promptCacheHitTokens: 2,
  };
}

const LARGE = 100_000;

/** A request and a result of many numbers: a megabyte and more on the wire. */
export const large = {
  request: {
    modelId: 'm',
    seqId: 1,
    lossFn: 'cross_entropy',
    forwardOnly: false,
    data: [nextTokenDatum(Int32Array.from({ length: LARGE }, (_, index) => (index * 2_654_435_761) >>> 1))],
  } satisfies ForwardBackwardRequest,
  output: {
    lossFnOutputType: 'TorchLossReturn',
    lossFnOutputs: [{ logprobs: TensorData.fromArray(Float32Array.from({ length: LARGE }, (_, index) => -Math.sqrt(index + 1))) }],
    metrics: {},
  } satisfies ForwardBackwardOutput,
} as const;
