import { ConfigurationError, type Datum } from '@tinkex/types';
import { shuffleInBuffer } from './shuffle-buffer.js';
import type { SupervisedDataset } from './supervised-dataset.js';

/** Rows to make batches of while they are read. */
export interface StreamDatasetOptions<Row> {
  readonly open: () => Iterable<Row> | AsyncIterable<Row>;
  readonly length: number;
  readonly batchSize: number;
  readonly bufferSize: number;
  readonly shuffleSeed: number | null;
  readonly toData: (row: Row) => readonly Datum[];
}

/** A data set that holds an open stream. */
export interface StreamDataset extends SupervisedDataset {
  /** Closes the stream, as `break` in a loop over it does. */
  close(): Promise<void>;
}

/** An epoch that is being read. */
interface Reading<Row> {
  readonly epoch: number;
  readonly rows: AsyncGenerator<Row>;
  /** The batch that is read next. */
  next: number;
}

/** Batches of a stream. A later batch reads and drops those before it; an earlier one is refused, as in the reference. Another epoch opens it again. */
export function streamDataset<Row>({
  open,
  length,
  batchSize,
  bufferSize,
  shuffleSeed: seed,
  toData,
}: StreamDatasetOptions<Row>): StreamDataset {
  const batches = Math.max(0, Math.floor(length / batchSize));
  let reading: Reading<Row> | undefined;
  const close = async (): Promise<void> => {
    const { rows } = reading ?? {};
    reading = undefined;
    await rows?.return(undefined);
  };
  const readBatch = async ({ rows, next }: Reading<Row>): Promise<Row[]> => {
    const batch: Row[] = [];
    while (batch.length < batchSize) {
      const { value, done } = await rows.next();
      if (done === true) throw tooShort(next * batchSize + batch.length, length);
      batch.push(value);
    }
    return batch;
  };
  return {
    batchCount: () => batches,
    async getBatch(epoch, index) {
      if (reading?.epoch !== epoch) {
        await close();
        reading = { epoch, rows: shuffleInBuffer(open(), { bufferSize, seed, epoch }), next: 0 };
      }
      const current = reading as Reading<Row>;
      if (index < current.next) {
        const message = `A stream is only read forward: batch ${index} of epoch ${epoch} was read already.`;
        throw new ConfigurationError({ option: 'data', message });
      }
      for (; current.next < index; current.next++) await readBatch(current);
      const batch = await readBatch(current);
      current.next++;
      return batch.flatMap((row) => toData(row));
    },
    close,
  };
}

function tooShort(read: number, length: number): ConfigurationError {
  const message = `The stream ended after ${read} conversations; its length should be ${length}. Open it at its beginning each time, or lower length.`;
  return new ConfigurationError({ option: 'data', message });
}
