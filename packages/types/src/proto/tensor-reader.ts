import { TensorData } from '../tensor/tensor-data.js';
import { elements, widened } from './bytes.js';
import type { Tensor } from './gen/tinker_public_pb.js';

/** The tensor in a protobuf message; a sparse one stays sparse. Numbers are views of the bytes where those are aligned. */
export function readTensor({ encoding, dtype, shape }: Tensor, what: string): TensorData {
  if (encoding.case === undefined) throw new RangeError(`${what} has no content`);
  const isSparse = encoding.case === 'sparseCsr';
  const data = widened(dtype, isSparse ? encoding.value.values : encoding.value, what);
  return new TensorData({
    data,
    dtype: data instanceof Float32Array ? 'float32' : 'int64',
    shape: shape.length === 0 ? undefined : shape.map(Number),
    sparseCrowIndices: isSparse ? elements(BigInt64Array, encoding.value.crowIndices, `${what}: row pointers`) : undefined,
    sparseColIndices: isSparse ? elements(BigInt64Array, encoding.value.colIndices, `${what}: column indices`) : undefined,
  });
}
