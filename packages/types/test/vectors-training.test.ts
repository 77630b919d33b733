import { describe, expect, it } from 'vitest';
import {
  type Datum,
  datum,
  dmel,
  encodedText,
  image,
  imageAssetPointer,
  ModelInput,
  type ModelInputChunk,
  type NestedNumbers,
  TensorData,
  type TensorDtype,
  ValidationError,
  withProvenance,
} from '../src/index.js';
import { lossInputDomainName } from '../src/training/loss-fn-inputs.js';
import { chunkData, estimateDatumBytes, estimatePromptBytes, lossFnInput, reduceMetrics, wrappingSum } from '../src/wire.js';
import { vectorCases, vectorNumber } from './vectors.js';

interface EstimateInput {
  readonly path: string;
  readonly datum?: {
    readonly chunks: EstimateChunk[];
    readonly tensors: Record<string, { dtype: TensorDtype; shape: number[]; sparse_nnz?: number }>;
  };
  readonly chunks?: EstimateChunk[];
}

interface EstimateChunk {
  readonly type: string;
  readonly tokens?: number;
  readonly data_bytes?: number;
  readonly dmel_bytes?: number;
  readonly location?: string;
}

function chunkOf(chunk: EstimateChunk): ModelInputChunk {
  if (chunk.type === 'encoded_text') return encodedText(new Int32Array(chunk.tokens ?? 0));
  if (chunk.type === 'image') return image({ data: new Uint8Array(chunk.data_bytes ?? 0), format: 'png' });
  if (chunk.type === 'dmel') return dmel(new Uint8Array(chunk.dmel_bytes ?? 0));
  return imageAssetPointer({ location: chunk.location ?? '', format: 'png' });
}

function tensorOf({ dtype, shape, sparse_nnz: stored }: { dtype: TensorDtype; shape: number[]; sparse_nnz?: number }): TensorData {
  const size = stored ?? shape.reduce((product, length) => product * length, 1);
  const data = dtype === 'float32' ? new Float32Array(size) : new BigInt64Array(size);
  if (stored === undefined) return new TensorData({ data, dtype, shape });
  const sparseCrowIndices = new BigInt64Array((shape[0] ?? 0) + 1).fill(BigInt(stored), 1);
  return new TensorData({ data, dtype, shape, sparseCrowIndices, sparseColIndices: new BigInt64Array(stored) });
}

describe('byte-estimates.json', () => {
  for (const { name, input, expected } of vectorCases<EstimateInput, number>('byte-estimates', 11)) {
    it(name, () => {
      if (input.path === 'sample') {
        expect(estimatePromptBytes(new ModelInput((input.chunks ?? []).map(chunkOf)))).toBe(expected);
        return;
      }
      const lossFnInputs = Object.fromEntries(Object.entries(input.datum?.tensors ?? {}).map(([key, tensor]) => [key, tensorOf(tensor)]));
      const estimated: Datum = { modelInput: new ModelInput((input.datum?.chunks ?? []).map(chunkOf)), lossFnInputs };
      expect(estimateDatumBytes(estimated)).toBe(expected);
    });
  }
});

interface ChunkingInput {
  readonly datum_estimated_bytes: number[];
  readonly fwdbwd_max_chunk_len: number;
  readonly fwdbwd_max_chunk_bytes_count: number;
}

interface ChunkingExpected {
  readonly chunks: { datum_indices: number[]; estimated_bytes: number }[];
}

describe('chunking.json', () => {
  for (const { name, input, expected } of vectorCases<ChunkingInput, ChunkingExpected>('chunking', 12)) {
    it(name, () => {
      const indices = input.datum_estimated_bytes.map((_, index) => index);
      const limits = { maxChunkLength: input.fwdbwd_max_chunk_len, maxChunkBytes: input.fwdbwd_max_chunk_bytes_count };
      const chunks = chunkData(indices, limits, (index) => input.datum_estimated_bytes[index] ?? 0);
      expect(chunks.map(({ data, estimatedBytes }) => ({ datum_indices: data, estimated_bytes: estimatedBytes }))).toEqual(expected.chunks);
    });
  }
});

interface CsrExpected {
  readonly encoding: 'sparse_csr' | 'dense';
  readonly shape: number[];
  readonly data: (number | string)[];
  readonly sparse_crow_indices?: number[];
  readonly sparse_col_indices?: number[];
}

describe('csr.json', () => {
  for (const { name, input, expected } of vectorCases<(number | string)[][], CsrExpected>('csr', 12)) {
    const rows = input.map((row) => row.map(vectorNumber));
    const isWhole = rows.flat().every((value) => Number.isInteger(value));
    for (const dtype of isWhole ? (['float32', 'int64'] as const) : (['float32'] as const)) {
      it(`${name} as ${dtype}`, () => {
        const dense = TensorData.fromArray(rows, dtype);
        const smallest = dense.toSmallest();
        expect(smallest.isSparse).toBe(expected.encoding === 'sparse_csr');
        expect(smallest.shape).toEqual(expected.shape);
        const values = expected.data.map((value) => vectorNumber(value) + 0);
        expect(smallest.toNumbers().map((value) => value + 0)).toEqual(values);
        expect(smallest.sparseCrowIndices && Array.from(smallest.sparseCrowIndices, Number)).toEqual(expected.sparse_crow_indices);
        expect(smallest.sparseColIndices && Array.from(smallest.sparseColIndices, Number)).toEqual(expected.sparse_col_indices);
        expect(
          smallest
            .toDense()
            .toNumbers()
            .map((value) => value + 0),
        ).toEqual(dense.toNumbers().map((value) => value + 0));
      });
    }
  }
});

interface PadInput {
  readonly rows?: number[][];
  readonly pad_value: number;
  readonly data?: number[];
  readonly shape?: number[];
  readonly sparse_crow_indices?: number[];
  readonly sparse_col_indices?: number[];
}

type PadExpected = (CsrExpected & { readonly error?: undefined }) | { readonly error: string } | number[][];

describe('csr-pad-value.json', () => {
  for (const { name, input, expected } of vectorCases<PadInput, PadExpected>('csr-pad-value', 13)) {
    // JSON and JavaScript do not tell -1.0 from -1: a fraction stands for what the reference calls a float.
    const padValue = name === 'pad-float-refused' ? input.pad_value + 0.5 : input.pad_value;
    it(name, () => {
      const run = () => (input.rows === undefined ? densified(input, padValue) : compressed(input.rows, padValue));
      if ('error' in expected) expect(run).toThrow(ValidationError);
      else expect(run()).toEqual(Array.isArray(expected) ? expected : encodingOf(expected));
    });
  }

  function densified(input: PadInput, padValue: number) {
    const tensor = new TensorData({
      data: BigInt64Array.from(input.data ?? [], BigInt),
      dtype: 'int64',
      shape: input.shape,
      sparseCrowIndices: BigInt64Array.from(input.sparse_crow_indices ?? [], BigInt),
      sparseColIndices: BigInt64Array.from(input.sparse_col_indices ?? [], BigInt),
    });
    return tensor.toArray({ padValue });
  }

  function compressed(rows: number[][], padValue: number) {
    const dense = TensorData.fromArray(rows, 'int64');
    const smallest = dense.toSmallest({ padValue });
    expect(smallest.toArray({ padValue })).toEqual(dense.toArray());
    return {
      isSparse: smallest.isSparse,
      shape: smallest.shape,
      data: smallest.toNumbers(),
      rowPointers: smallest.sparseCrowIndices && Array.from(smallest.sparseCrowIndices, Number),
      columns: smallest.sparseColIndices && Array.from(smallest.sparseColIndices, Number),
    };
  }

  function encodingOf({ encoding, shape, data, sparse_crow_indices: rowPointers, sparse_col_indices: columns }: CsrExpected) {
    return { isSparse: encoding === 'sparse_csr', shape, data, rowPointers, columns };
  }
});

interface ConversionExpected {
  readonly dtype?: TensorDtype;
  readonly shape?: number[];
  readonly data?: number[];
  readonly error?: string;
}

describe('loss-fn-input-conversion.json', () => {
  for (const { name, input, expected } of vectorCases<{ key: string; value: NestedNumbers }, ConversionExpected>(
    'loss-fn-input-conversion',
    18,
  )) {
    it(name, () => {
      const convert = () => lossFnInput(lossInputDomainName(input.key), input.value);
      if (expected.error !== undefined) {
        expect(convert).toThrow(ValidationError);
        return;
      }
      const tensor = convert();
      expect({ dtype: tensor.dtype, shape: tensor.shape, data: tensor.toNumbers() }).toEqual(expected);
    });
  }
});

interface ReductionInput {
  readonly results: { metrics: Record<string, number | string>; num_loss_fn_outputs: number }[];
}

interface ReductionExpected {
  readonly metrics?: Record<string, number | string>;
  readonly error?: string;
}

describe('metric-reduction.json', () => {
  for (const { name, input, expected } of vectorCases<ReductionInput, ReductionExpected>('metric-reduction', 40)) {
    it(name, () => {
      const chunks = input.results.map(({ metrics, num_loss_fn_outputs: weight }) => ({
        metrics: Object.fromEntries(Object.entries(metrics).map(([key, value]) => [key, vectorNumber(value)])),
        weight,
      }));
      if (expected.error !== undefined) {
        expect(() => reduceMetrics(chunks, { mode: 'strict' })).toThrow(ValidationError);
        return;
      }
      const reduced = reduceMetrics(chunks, { mode: 'strict' });
      expect(Object.keys(reduced)).toEqual(Object.keys(expected.metrics ?? {}));
      for (const [key, value] of Object.entries(expected.metrics ?? {})) {
        if (key.endsWith(':hash2')) {
          expect(wrappingSum(chunks.map(({ metrics }) => metrics[key] ?? Number.NaN)).toString()).toBe(String(value));
          expect(reduced[key]).toBe(Number(value));
        } else if (value === 'NaN') expect(reduced[key]).toBeNaN();
        else expect(reduced[key]).toBeCloseTo(vectorNumber(value), 12);
      }
    });
  }
});

interface TilingInput {
  readonly model_input_length: number;
  readonly target_tokens_shape: number[];
  readonly model_input_span_lengths: number[];
  readonly loss_fn_input_span_lengths: number[];
}

describe('provenance-tiling.json', () => {
  const spans = (lengths: number[]) => lengths.map((length) => ({ kind: 'sampled', sequenceId: 'q', length }) as const);
  for (const { name, input, expected } of vectorCases<TilingInput, { ok: boolean }>('provenance-tiling', 7)) {
    it(name, () => {
      const modelInput = ModelInput.fromInts(new Int32Array(input.model_input_length));
      const targetTokens = tensorOf({ dtype: 'int64', shape: input.target_tokens_shape });
      const provenance = {
        modelInput: spans(input.model_input_span_lengths),
        targetTokens: spans(input.loss_fn_input_span_lengths),
      };
      const plain = datum({ modelInput, lossFnInputs: { targetTokens } });
      for (const make of [
        () => withProvenance(plain, provenance),
        () => datum({ modelInput, lossFnInputs: { targetTokens }, provenance }),
      ]) {
        if (expected.ok) expect(make()).toEqual({ ...plain, provenance });
        else expect(make).toThrow(ValidationError);
      }
    });
  }
});
