import fc from 'fast-check';
import {
  type Datum,
  dmel,
  encodedText,
  type ForwardBackwardOutput,
  image,
  imageAssetPointer,
  ModelInput,
  type ProvenanceSpan,
  type SampleResponse,
  TensorData,
  TopkLogprobs,
} from '../src/index.js';
import type { ForwardBackwardRequest } from '../src/wire.js';

const finite = fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const dimension = fc.integer({ min: 0, max: 4 });

/** Dense and sparse tensors of both element types, empty ones included. `onlyFinite`: without NaN and infinities. */
export function tensors({ onlyFinite = false }: { onlyFinite?: boolean } = {}): fc.Arbitrary<TensorData> {
  const float = onlyFinite ? finite : fc.oneof(finite, fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY));
  const shape = fc.array(dimension, { minLength: 1, maxLength: 3 });
  const dense = shape.chain((lengths) => {
    const size = lengths.reduce((product, length) => product * length, 1);
    const exact = { minLength: size, maxLength: size };
    return fc.oneof(
      fc.array(float, exact).map((values) => TensorData.fromArray(Float32Array.from(values), 'float32', lengths)),
      fc
        .array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), exact)
        .map((values) => TensorData.fromArray(BigInt64Array.from(values), 'int64', lengths)),
    );
  });
  const shapeless = fc.array(float).map((values) => new TensorData({ data: Float32Array.from(values), dtype: 'float32' }));
  const sparse = fc
    .tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 6, max: 12 }))
    .chain(([rows, columns]) =>
      fc
        .array(fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 2), { minLength: rows * columns, maxLength: rows * columns })
        .map((values) => TensorData.fromArray(Float32Array.from(values), 'float32', [rows, columns]).toSmallest()),
    );
  return fc.oneof(dense, shapeless, sparse);
}

const token = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const text = encodedTextChunks();
const format = fc.constantFrom('png' as const, 'jpeg' as const);
const expectedTokens = fc.option(fc.nat(), { nil: undefined });

function encodedTextChunks() {
  return fc.array(token, { maxLength: 8 }).map(encodedText);
}

const trainable = fc.oneof(
  text,
  fc
    .record({ data: fc.uint8Array(), format, count: expectedTokens })
    .map(({ count, ...rest }) => image({ ...rest, ...(count === undefined ? {} : { expectedTokens: count }) })),
  fc.uint8Array().map(dmel),
);

const pointers = fc
  .record({ location: fc.string({ unit: 'binary' }), format, count: expectedTokens })
  .map(({ count, ...rest }) => imageAssetPointer({ ...rest, ...(count === undefined ? {} : { expectedTokens: count }) }));

/** Model inputs of every kind of chunk; for training without asset pointers. */
export function modelInputs({ isTraining = false }: { isTraining?: boolean } = {}): fc.Arbitrary<ModelInput> {
  return fc.array(isTraining ? trainable : fc.oneof(trainable, pointers), { maxLength: 4 }).map((chunks) => new ModelInput(chunks));
}

/** Names that are data: any text, `__proto__` and the empty one included. */
export const names = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('__proto__', 'constructor', '', 'toString', 'a:b', 'has space'),
);

/** Documented names would be renamed, so other names are used beside them. */
const inputName = fc.oneof(
  fc.constantFrom('targetTokens', 'weights', 'advantages', 'logprobs', 'clipLowThreshold', 'sequenceRatioMask'),
  names.filter((name) => !/_/.test(name)),
);

function dictionary<T>(keys: fc.Arbitrary<string>, values: fc.Arbitrary<T>, maxLength = 4): fc.Arbitrary<Record<string, T>> {
  return fc.array(fc.tuple(keys, values), { maxLength }).map((entries) => Object.fromEntries(entries));
}

const spans: fc.Arbitrary<ProvenanceSpan[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('prompt', 'sampled'),
    sequenceId: fc.string({ unit: 'grapheme', minLength: 1 }),
    offset: fc.nat({ max: 2 ** 53 - 1 }),
    length: fc.nat(),
  }),
  { minLength: 1, maxLength: 3 },
);

function data(options: { onlyFinite: boolean }): fc.Arbitrary<Datum[]> {
  const datum = fc
    .record({
      modelInput: modelInputs({ isTraining: true }),
      lossFnInputs: dictionary(inputName, tensors(options)),
      provenance: fc.option(fc.record({ modelInput: spans, targetTokens: spans }), { nil: undefined }),
    })
    .map(({ provenance, ...rest }) => (provenance === undefined ? rest : { ...rest, provenance }));
  return fc.array(datum, { minLength: 1, maxLength: 4 });
}

const finiteDouble = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);

/** Forward-backward requests. */
export function requests(options: { onlyFinite: boolean }): fc.Arbitrary<ForwardBackwardRequest> {
  return fc
    .record({
      modelId: fc.string({ unit: 'grapheme' }),
      seqId: fc.option(fc.integer({ min: 1, max: 2 ** 31 - 1 }), { nil: undefined }),
      data: data(options),
      lossFn: fc.constantFrom('cross_entropy', 'ppo', 'custom'),
      lossFnConfig: dictionary(names, fc.oneof(finiteDouble, fc.string({ unit: 'grapheme' }))),
      forwardOnly: fc.boolean(),
    })
    .map(({ seqId, lossFnConfig, ...rest }) => ({
      ...rest,
      ...(seqId === undefined ? {} : { seqId }),
      ...(Object.keys(lossFnConfig).length === 0 ? {} : { lossFnConfig }),
    }));
}

/** Forward-backward outputs as a server can write them: every datum has tensors of the same names, dense and with rows. */
export function outputs({ onlyFinite = false }: { onlyFinite?: boolean } = {}): fc.Arbitrary<ForwardBackwardOutput> {
  const tensor = tensors({ onlyFinite }).filter(({ shape, isSparse }) => !isSparse && shape !== undefined && !shape.slice(1).includes(0));
  const rows = fc
    .uniqueArray(names, { maxLength: 3 })
    .chain((keys) =>
      fc
        .array(fc.tuple(...keys.map(() => tensor)), { maxLength: 5 })
        .map((list) => list.map((row) => Object.fromEntries(keys.map((key, index) => [key, row[index] as TensorData])))),
    );
  return fc.record({
    lossFnOutputType: fc.constantFrom('TorchLossReturn', 'ArrayRecord'),
    lossFnOutputs: rows,
    metrics: dictionary(names, onlyFinite ? finiteDouble : fc.double()),
  });
}

/** Token IDs to score at each prompt position, dense or sparse with -1 left out. */
export const targetPrompts: fc.Arbitrary<TensorData> = fc
  .tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 12 }))
  .chain(([rows, columns]) =>
    fc
      .array(fc.constantFrom(-1, -1, -1, -1, -1, 0, 7), { minLength: rows * columns, maxLength: rows * columns })
      .map((ids) => TensorData.fromArray(ids, 'int64', [rows, columns])),
  )
  .chain((dense) => fc.constantFrom(dense, dense.toSmallest({ padValue: -1 })));

/** Sample responses. */
export function samples({ onlyFinite = false }: { onlyFinite?: boolean } = {}): fc.Arbitrary<SampleResponse> {
  const logprob = onlyFinite ? finite : fc.float();
  const floats = fc.array(logprob, { minLength: 1, maxLength: 6 }).map((values) => Float32Array.from(values));
  const topk = fc
    .array(fc.option(fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), finite.map(Math.fround)), { minLength: 1, maxLength: 3 })), {
      minLength: 1,
      maxLength: 5,
    })
    .map((rows) => TopkLogprobs.fromList(rows));
  const sequence = fc
    .record({
      tokens: fc.array(token).map((values) => Int32Array.from(values)),
      logprobs: fc.option(floats),
      stopReason: fc.constantFrom('stop' as const, 'length' as const),
      topkLogprobs: fc.option(topk),
    })
    .map(({ logprobs, topkLogprobs, ...rest }) => ({
      ...rest,
      ...(logprobs === null ? {} : { logprobs }),
      ...(topkLogprobs === null ? {} : { topkLogprobs }),
    }));
  const floatMatrix = targetPrompts.map(asFloats);
  const altTokens = targetPrompts.filter(({ isSparse }) => !isSparse).map((drawn) => ({ tokens: drawn, logprobs: asFloats(drawn) }));
  return fc
    .record({
      sequences: fc.array(sequence, { maxLength: 3 }),
      promptLogprobs: fc.option(
        fc.array(fc.oneof(finite, fc.constant(Number.NaN)), { minLength: 1, maxLength: 6 }).map((values) => Float32Array.from(values)),
      ),
      topkPromptLogprobs: fc.option(topk),
      targetPromptLogprobs: fc.option(floatMatrix),
      promptAltTokens: fc.option(altTokens),
      promptCacheHitTokens: fc.integer({ min: -5, max: 2 ** 31 - 1 }),
    })
    .map(({ promptLogprobs, topkPromptLogprobs, targetPromptLogprobs, promptAltTokens, ...rest }) => ({
      ...rest,
      ...(targetPromptLogprobs === null ? {} : { targetPromptLogprobs }),
      ...(promptAltTokens === null ? {} : { promptAltTokens }),
      ...(promptLogprobs === null ? {} : { promptLogprobs }),
      ...(topkPromptLogprobs === null ? {} : { topkPromptLogprobs }),
    }));
}

/** The same layout with halves in place of the ids. */
function asFloats(tensor: TensorData): TensorData {
  const data = Float32Array.from(tensor.data as BigInt64Array, (id) => -Number(id) / 2 + 0);
  return new TensorData({ ...tensor, data, dtype: 'float32' });
}
