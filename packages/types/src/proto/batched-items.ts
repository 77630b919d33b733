import { invalidResponse } from '../errors/validation-error.js';
import { fromInt64Array, type Int64Array } from '../tensor/numbers.js';
import { TensorData } from '../tensor/tensor-data.js';
import { elementSize, elements, widened } from './bytes.js';
import type { BatchedTensor } from './gen/tinker_public_pb.js';

/** The tensors of a batch; each is a view on the batch's numbers. */
export class BatchedItems {
  /** How many tensors there are. */
  readonly count: number;
  readonly #name: string;
  readonly #values: Float32Array | Int64Array;
  readonly #offsets: readonly (number | bigint)[];
  readonly #elementSize: number;
  readonly #trailingShape: readonly number[];
  readonly #trailingSize: number;

  constructor(name: string, { data, offsets, dtype, trailingShape }: BatchedTensor) {
    this.#name = name;
    this.#elementSize = elementSize(dtype) ?? fail(name, `has the unknown element type ${dtype}`);
    this.#values = widened(dtype, data, name);
    this.#offsets = fromInt64Array(elements(BigInt64Array, offsets, `${name}: offsets`));
    this.count = Math.max(0, this.#offsets.length - 1);
    this.#trailingShape = trailingShape.map((length) =>
      length < 0n ? fail(name, `has the negative dimension ${length}`) : Number(length),
    );
    this.#trailingSize = this.#trailingShape.reduce((product, length) => product * length, 1);
  }

  /** One tensor. Offsets beyond the data are cut to it, offsets inside an element are rounded down. */
  at(index: number): TensorData {
    const values = this.#values.subarray(this.#element(index), this.#element(index + 1));
    const rows = this.#trailingSize === 0 ? 0 : Math.floor(values.length / this.#trailingSize);
    return new TensorData({
      data: values,
      dtype: values instanceof Float32Array ? 'float32' : 'int64',
      shape: [rows, ...this.#trailingShape],
    });
  }

  #element(index: number): number {
    const offset = Number(this.#offsets[index]);
    if (offset < 0) return fail(this.#name, `has the negative offset ${offset}`);
    return Math.min(Math.floor(offset / this.#elementSize), this.#values.length);
  }
}

function fail(name: string, message: string): never {
  throw invalidResponse('ForwardBackwardOutput', name, message);
}
