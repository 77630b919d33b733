import type { BinaryReader } from '@bufbuild/protobuf/wire';
import type { ImageFormat, ModelInputChunk } from '../model-input/chunks.js';
import { ModelInput } from '../model-input/model-input.js';
import { TensorData } from '../tensor/tensor-data.js';
import type { Datum } from '../training/datum.js';
import { lossInputDomainName } from '../wire/loss-input-names.js';
import type { ForwardBackwardRequest } from '../wire/training.js';
import { DTYPE_FLOAT32, DTYPE_INT64 } from './dtypes.js';
import { elements } from './elements.js';
import { checkRequest } from './forward-backward-request-checks.js';
import { BYTES, FIXED64, nestedEnd, readEntry, readerOf, readInt64s, readMessage, VARINT } from './reader.js';

const NOTHING: Uint8Array = new Uint8Array(0);

/** The request that protobuf bytes hold. Numbers are views on the bytes where those are aligned. */
export function readForwardBackwardRequest(bytes: Uint8Array): ForwardBackwardRequest {
  const reader = readerOf(bytes);
  let modelId = '';
  let seqId = 0;
  let lossFn = '';
  let forwardOnly = false;
  const data: Datum[] = [];
  const config = new Map<string, number>();
  readMessage(reader, reader.len, (field, layout, end) => {
    if (field === 1 && layout === BYTES) modelId = reader.string(true);
    else if (field === 2 && layout === VARINT) seqId = reader.int32();
    else if (field === 3 && layout === BYTES) data.push(readDatum(reader, nestedEnd(reader, end)));
    else if (field === 4 && layout === BYTES) lossFn = reader.string(true);
    else if (field === 5 && layout === BYTES) {
      let value = 0;
      const key = readEntry(reader, nestedEnd(reader, end), (inner) => {
        if (inner !== FIXED64) return false;
        value = reader.double();
        return true;
      });
      config.set(key, value);
    } else if (field === 6 && layout === VARINT) forwardOnly = reader.bool();
    else return false;
    return true;
  });
  const request: ForwardBackwardRequest = {
    modelId,
    ...(seqId === 0 ? {} : { seqId }),
    data,
    lossFn,
    ...(config.size === 0 ? {} : { lossFnConfig: Object.fromEntries(config) }),
    forwardOnly,
  };
  checkRequest(request);
  return request;
}

function readDatum(reader: BinaryReader, end: number): Datum {
  const chunks: ModelInputChunk[] = [];
  const inputs = new Map<string, TensorData>();
  readMessage(reader, end, (field, layout, inner) => {
    if (layout !== BYTES) return false;
    if (field === 1) chunks.push(readChunk(reader, nestedEnd(reader, inner)));
    else if (field === 2) {
      const parts = new TensorParts();
      const name = readEntry(reader, nestedEnd(reader, inner), (valueLayout, entryEnd) => {
        if (valueLayout !== BYTES) return false;
        parts.read(reader, nestedEnd(reader, entryEnd));
        return true;
      });
      inputs.set(lossInputDomainName(name), parts.toTensor(name));
    } else return false;
    return true;
  });
  return { modelInput: new ModelInput(chunks), lossFnInputs: Object.fromEntries(inputs) };
}

/** The members of a chunk; a later member replaces an earlier one of another kind and adds to one of the same kind. */
function readChunk(reader: BinaryReader, end: number): ModelInputChunk {
  let kind = 0;
  let bytes: Uint8Array = NOTHING;
  let format = '';
  let expectedTokens: number | undefined;
  readMessage(reader, end, (field, layout, inner) => {
    if (field > 3 || layout !== BYTES) return false;
    if (field !== kind) {
      bytes = NOTHING;
      format = '';
      expectedTokens = undefined;
      kind = field;
    }
    readMessage(reader, nestedEnd(reader, inner), (part, partLayout) => {
      if (part === 1 && partLayout === BYTES) bytes = reader.bytes();
      else if (kind === 2 && part === 2 && partLayout === BYTES) format = reader.string(true);
      else if (kind === 2 && part === 3 && partLayout === VARINT) expectedTokens = reader.int32();
      else return false;
      return true;
    });
    return true;
  });
  if (kind === 1) return { type: 'encoded_text', tokens: elements(Int32Array, bytes, 'tokens') };
  if (kind === 3) return { type: 'dmel', dmel: bytes };
  if (kind !== 2) throw new RangeError('a chunk of the model input is of no known kind');
  return { type: 'image', data: bytes, format: format as ImageFormat, expectedTokens };
}

/** Collects the fields of a tensor, which may come in any order and more than once. */
class TensorParts {
  #dense: Uint8Array | undefined;
  #sparse: { values: Uint8Array; rows: Uint8Array; columns: Uint8Array } | undefined;
  #dtype = 0;
  readonly #shape: bigint[] = [];

  read(reader: BinaryReader, end: number): void {
    readMessage(reader, end, (field, layout, inner) => {
      if (field === 1 && layout === BYTES) {
        this.#dense = reader.bytes();
        this.#sparse = undefined;
      } else if (field === 2 && layout === BYTES) this.#readSparse(reader, nestedEnd(reader, inner));
      else if (field === 3 && layout === VARINT) this.#dtype = reader.int32();
      else if (field === 4) return readInt64s(reader, layout, inner, this.#shape);
      else return false;
      return true;
    });
  }

  #readSparse(reader: BinaryReader, end: number): void {
    this.#dense = undefined;
    this.#sparse ??= { values: NOTHING, rows: NOTHING, columns: NOTHING };
    const sparse = this.#sparse;
    readMessage(reader, end, (field, layout) => {
      if (layout !== BYTES) return false;
      if (field === 1) sparse.values = reader.bytes();
      else if (field === 2) sparse.rows = reader.bytes();
      else if (field === 3) sparse.columns = reader.bytes();
      else return false;
      return true;
    });
  }

  toTensor(name: string): TensorData {
    if (this.#dtype !== DTYPE_FLOAT32 && this.#dtype !== DTYPE_INT64)
      throw new RangeError(`tensor ${name} has the unknown element type ${this.#dtype}`);
    const bytes = this.#dense ?? this.#sparse?.values;
    if (bytes === undefined) throw new RangeError(`tensor ${name} has no content`);
    const shape = this.#shape.length === 0 ? undefined : this.#shape.map(Number);
    return new TensorData({
      data: this.#dtype === DTYPE_FLOAT32 ? elements(Float32Array, bytes, name) : elements(BigInt64Array, bytes, name),
      dtype: this.#dtype === DTYPE_FLOAT32 ? 'float32' : 'int64',
      shape,
      ...(this.#sparse === undefined
        ? {}
        : {
            sparseCrowIndices: elements(BigInt64Array, this.#sparse.rows, `${name}: row pointers`),
            sparseColIndices: elements(BigInt64Array, this.#sparse.columns, `${name}: column indices`),
          }),
    });
  }
}
