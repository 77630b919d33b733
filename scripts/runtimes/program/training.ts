import {
  chunkLength,
  datum,
  dmel,
  encodedText,
  image,
  ModelInput,
  nextTokenDatum,
  promptLogprobsToList,
  TensorData,
  TopkPromptLogprobs,
} from '../../../packages/types/src/index.js';
import {
  chunkData,
  combineForwardBackwardOutputs,
  estimateDatumBytes,
  reduceMetrics,
  tensorContainerShape,
  unorderedHash,
} from '../../../packages/types/src/wire.js';
import { type Check, check, refuses, same } from './check.js';
import { everyOutput, extremeIntegers, finiteFloats } from './values.js';
import { eachCase, fromHex, vectorNumber } from './vectors.js';

interface ChunkingInput {
  readonly datum_estimated_bytes: readonly number[];
  readonly fwdbwd_max_chunk_len: number;
  readonly fwdbwd_max_chunk_bytes_count: number;
}

interface CsrExpected {
  readonly encoding: 'sparse_csr' | 'dense';
  readonly data: readonly (number | string)[];
  readonly sparse_crow_indices?: readonly number[];
  readonly sparse_col_indices?: readonly number[];
}

interface ReductionInput {
  readonly results: readonly { readonly metrics: Record<string, number | string>; readonly num_loss_fn_outputs: number }[];
}

/** Inputs, tensors, data, and what becomes of a batch: chunks, reduced metrics, combined results. */
export const trainingChecks: readonly Check[] = [
  ...eachCase<ChunkingInput, { readonly chunks: readonly unknown[] }>('chunking', (input, expected) => {
    const sizes = input.datum_estimated_bytes;
    const limits = { maxChunkLength: input.fwdbwd_max_chunk_len, maxChunkBytes: input.fwdbwd_max_chunk_bytes_count };
    const chunks = chunkData([...sizes.keys()], limits, (index) => sizes[index] ?? 0);
    same(
      chunks.map(({ data, estimatedBytes }) => ({ datum_indices: data, estimated_bytes: estimatedBytes })),
      expected.chunks,
    );
  }),
  ...eachCase<readonly (readonly (number | string)[])[], CsrExpected>('csr', (input, expected) => {
    const dense = TensorData.fromArray(input.map((row) => row.map(vectorNumber)));
    const smallest = dense.toSmallest();
    same(smallest.isSparse, expected.encoding === 'sparse_csr');
    same(smallest.toNumbers().map(positive), expected.data.map(vectorNumber).map(positive));
    same(smallest.sparseCrowIndices && Array.from(smallest.sparseCrowIndices, Number), expected.sparse_crow_indices);
    same(smallest.sparseColIndices && Array.from(smallest.sparseColIndices, Number), expected.sparse_col_indices);
    same(smallest.toDense().toNumbers().map(positive), dense.toNumbers().map(positive));
  }),
  ...eachCase<ReductionInput, { readonly metrics?: Record<string, number | string>; readonly error?: string }>(
    'metricReduction',
    ({ results }, expected) => {
      const chunks = results.map(({ metrics, num_loss_fn_outputs: weight }) => ({
        metrics: Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, vectorNumber(value)])),
        weight,
      }));
      const reduce = () => reduceMetrics(chunks, { mode: 'strict' });
      if (expected.error !== undefined) return refuses(reduce);
      const reduced = reduce();
      same(Object.keys(reduced), Object.keys(expected.metrics ?? {}));
      for (const [name, value] of Object.entries(expected.metrics ?? {})) {
        if (name.endsWith(':hash_unordered'))
          same(unorderedHash(chunks.map(({ metrics }) => metrics[name] ?? Number.NaN)).toString(), value);
        // Sums may be taken in another order than the reference does.
        else same(reduced[name]?.toPrecision(12), vectorNumber(value).toPrecision(12));
      }
    },
  ),
  ...eachCase<
    string,
    { readonly ok: boolean; readonly shape?: readonly number[]; readonly length?: number; readonly length_error?: boolean }
  >('tensorContainer', (hex, expected) => {
    const shape = () => tensorContainerShape(fromHex(hex));
    if (!expected.ok) return refuses(shape);
    same(shape(), expected.shape);
    const length = () => chunkLength(dmel(fromHex(hex)));
    if (expected.length_error === true) refuses(length);
    else same(length(), expected.length);
  }),
  ...eachCase<readonly (number | string)[], readonly (number | string | null)[]>('promptLogprobs', (input, expected) => {
    const list = promptLogprobsToList(Float32Array.from(input, vectorNumber));
    same(
      list,
      expected.map((value) => (value === null ? null : vectorNumber(value))),
    );
  }),
  ...eachCase<{ readonly token_ids: number[][]; readonly logprobs: number[][] }, readonly unknown[]>(
    'topkPromptLogprobs',
    (input, expected) => {
      const matrix = new TopkPromptLogprobs({
        tokenIds: Int32Array.from(input.token_ids.flat()),
        logprobs: Float32Array.from(input.logprobs.flat()),
        k: input.token_ids[0]?.length ?? 0,
        promptLength: input.token_ids.length,
      });
      same(matrix.toList(), expected);
    },
  ),
  check('a model input grows, counts and gives back its tokens', () => {
    const input = ModelInput.fromInts([1, 2])
      .append(encodedText(Int32Array.of(3)))
      .appendInt(4);
    same([input.length, input.toInts(), ModelInput.empty().length], [4, Int32Array.of(1, 2, 3, 4), 0]);
    const withImage = input.append(image({ data: new Uint8Array(8), format: 'png', expectedTokens: 64 }));
    same(withImage.length, 68);
    refuses(() => withImage.toInts());
    refuses(() => ModelInput.fromInts([1.5]));
    refuses(() => ModelInput.fromInts([2 ** 31]));
    same(ModelInput.isInstance(withImage), true);
  }),
  check('a tensor holds int64 exactly', () => {
    const tensor = TensorData.fromArray([2n ** 63n - 1n, 5, -(2n ** 63n)], 'int64');
    same(tensor.data, BigInt64Array.of(2n ** 63n - 1n, 5n, -(2n ** 63n)));
    same(tensor.toArray(), [2n ** 63n - 1n, 5, -(2n ** 63n)]);
    refuses(() => tensor.toNumbers());
    refuses(() => TensorData.fromArray([2n ** 63n], 'int64'));
    same(TensorData.fromArray(extremeIntegers).data === extremeIntegers, true);
  }),
  check('a tensor nests, and refuses a shape that lies', () => {
    same(
      TensorData.fromArray([
        [1, 2],
        [3, 4],
      ]).toArray(),
      [
        [1, 2],
        [3, 4],
      ],
    );
    same(TensorData.fromArray(Int32Array.of(1, 2)).dtype, 'int64');
    refuses(() => TensorData.fromArray([[1], [2, 3]]));
    refuses(() => TensorData.fromArray([1, 2, 3], 'float32', [2 ** 32, 2 ** 32]));
  }),
  check('a datum is built by name, and from tokens', () => {
    const built = datum({ modelInput: ModelInput.fromInts([1, 2]), lossFnInputs: { targetTokens: [2, 3], weights: [0, 1] } });
    same([built.lossFnInputs['targetTokens']?.dtype, built.lossFnInputs['weights']?.dtype], ['int64', 'float32']);
    same(nextTokenDatum([10, 11, 12, 13], { promptLength: 2 }).lossFnInputs['weights']?.toArray(), [0, 1, 1]);
    same(estimateDatumBytes(built), 32);
    refuses(() => nextTokenDatum([1]));
  }),
  check('a batch is cut by length', () => {
    const one = nextTokenDatum([1, 2, 3]);
    same(
      chunkData(Array.from({ length: 2050 }, () => one)).map(({ data }) => data.length),
      [1024, 1024, 2],
    );
  }),
  check('results are combined in order, without copying a tensor', () => {
    const [first, second] = [everyOutput(finiteFloats), { ...everyOutput(finiteFloats), metrics: { 'loss:sum': 1, 'tiny:mean': 0 } }];
    const combined = combineForwardBackwardOutputs([first, second]);
    same(combined.lossFnOutputs.length, 4);
    same(combined.lossFnOutputs[2] === second.lossFnOutputs[0], true);
    same(combined.metrics['loss:sum'], 4.5);
  }),
];

/** The vectors do not tell the two zeros apart. */
function positive(value: number): number {
  return value + 0;
}
