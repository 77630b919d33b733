import type { Datum } from '@tinkex/types';
import { numpyPermutation } from './numpy-random.js';

/** Batches to train on. They depend only on the epoch and the index, so that training can continue at any step without replaying the ones before. */
export interface BatchDataset<Item> {
  /** How many batches an epoch has. Epochs count from 0. */
  batchCount(epoch: number): number;
  /** One batch. Called again for the same batch only after a resume. */
  getBatch(epoch: number, index: number): readonly Item[] | Promise<readonly Item[]>;
}

/** Batches of examples. */
export type SupervisedDataset = BatchDataset<Datum>;

/** How rows become batches. Set `batchSize` or `batchTokens`. */
export interface BatchOptions {
  /** Rows per batch. What is left over at the end of an epoch is not trained on in that epoch. */
  readonly batchSize?: number | undefined;
  /** The most tokens of a batch. A row that is larger is a batch by itself; nothing is left over. */
  readonly batchTokens?: number | undefined;
  /** Whether each epoch has another order, which depends only on the epoch. Default true. */
  readonly shuffle?: boolean | undefined;
}

/** Rows to make batches of. */
export interface RowDatasetOptions<Row, Item = Datum> extends BatchOptions {
  readonly rows: readonly Row[];
  /** The examples of a row. A batch has those of all its rows. Called each time the row is trained on. */
  readonly toData: (row: Row) => readonly Item[];
  /** The tokens of each row, in the order of the rows. Needed with `batchTokens`. */
  readonly rowTokens?: ArrayLike<number> | undefined;
}

/**
 * Batches of rows. The order of epoch n is that of `numpy.random.default_rng(n).permutation(rows)`, as in the reference.
 *
 * @throws RangeError unless exactly one of `batchSize` and `batchTokens` is a whole number from 1 up.
 */
export function rowDataset<Row, Item = Datum>({
  rows,
  toData,
  rowTokens,
  batchSize,
  batchTokens,
  shuffle = true,
}: RowDatasetOptions<Row, Item>): BatchDataset<Item> {
  if ((batchSize === undefined) === (batchTokens === undefined)) throw new RangeError('Set either batchSize or batchTokens.');
  const size = batchSize ?? batchTokens ?? 0;
  if (!(Number.isInteger(size) && size > 0)) throw new RangeError(`The size of a batch must be a whole number from 1 up; got ${size}.`);
  if (batchTokens !== undefined && rowTokens?.length !== rows.length)
    throw new RangeError('batchTokens needs rowTokens, one entry per row.');

  // Most loops stay in one epoch for long; two are needed where one ends and the next begins.
  const cache = new Map<number, readonly (readonly number[])[]>();
  const batchesOf = (epoch: number) => {
    const cached = cache.get(epoch);
    if (cached !== undefined) return cached;
    const order = shuffle ? Array.from(numpyPermutation(epoch, rows.length)) : rows.map((_, index) => index);
    const batches = batchSize === undefined ? packByTokens(order, rowTokens ?? [], size) : cutBySize(order, size);
    if (cache.size >= 2) cache.delete(cache.keys().next().value as number);
    cache.set(epoch, batches);
    return batches;
  };
  return {
    batchCount: (epoch) => (batchSize === undefined ? batchesOf(epoch).length : Math.floor(rows.length / size)),
    getBatch: (epoch, index) => (batchesOf(epoch)[index] ?? []).flatMap((row) => toData(rows[row] as Row)),
  };
}

function cutBySize(order: readonly number[], size: number): number[][] {
  return Array.from({ length: Math.floor(order.length / size) }, (_, index) => order.slice(index * size, (index + 1) * size));
}

function packByTokens(order: readonly number[], rowTokens: ArrayLike<number>, maxTokens: number): number[][] {
  const batches: number[][] = [];
  let tokens = Number.POSITIVE_INFINITY;
  for (const row of order) {
    const more = rowTokens[row] as number;
    if (tokens + more > maxTokens) {
      batches.push([]);
      tokens = 0;
    }
    batches.at(-1)?.push(row);
    tokens += more;
  }
  return batches;
}
