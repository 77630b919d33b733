import { NumpyGenerator } from './numpy-random.js';

/** How a stream is shuffled. */
export interface ShuffleBufferOptions {
  readonly bufferSize: number;
  /** `null` keeps the order. */
  readonly seed: number | null;
  readonly epoch: number;
}

/**
 * Rows in an order that is random within a buffer: whenever it is full, a random half of it is given out. The order is that of
 * `datasets.IterableDataset.shuffle(seed, buffer_size)` in this epoch, as the reference has it.
 */
export async function* shuffleInBuffer<Row>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  { bufferSize, seed, epoch }: ShuffleBufferOptions,
): AsyncGenerator<Row> {
  if (seed === null) {
    yield* rows;
    return;
  }
  const generator = new NumpyGenerator(seedOfEpoch(seed, epoch));
  let buffer: Row[] = [];
  for await (const row of rows) {
    buffer.push(row);
    if (buffer.length < bufferSize) continue;
    const order = generator.permutation(buffer.length);
    const given = buffer.length - Math.floor(bufferSize / 2);
    const full = buffer;
    for (const index of order.subarray(0, given)) yield full[index] as Row;
    buffer = Array.from(order.subarray(given), (index) => full[index] as Row);
  }
  for (const index of generator.permutation(buffer.length)) yield buffer[index] as Row;
}

function seedOfEpoch(seed: number, epoch: number): bigint {
  return epoch === 0 ? BigInt(seed) : new NumpyGenerator(seed).integer63() - BigInt(epoch);
}
