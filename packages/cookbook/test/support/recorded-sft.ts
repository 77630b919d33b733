import type { SupervisedData } from '@tinkex/cookbook';
import { datumFromModelInputWeights } from '@tinkex/renderers';
import { ByteTokenizer, type Datum, ModelInput } from '@tinkex/types';
import { readCookbookVectors } from '../../../../vectors/read.js';

/** A run of the reference's loop on the testkit's server. */
export interface RecordedSft {
  readonly run: string;
  readonly rows: readonly string[];
  readonly testRows: readonly string[];
  readonly rowsByEpochAndBatch: readonly (readonly (readonly number[])[])[];
  readonly checkpointsJsonl: readonly Readonly<Record<string, unknown>>[];
  readonly metricsJsonl: readonly Readonly<Record<string, number>>[];
  readonly configJson: Readonly<Record<string, unknown>>;
}

export function recordedSft(run: string): RecordedSft {
  return readCookbookVectors<RecordedSft>('run-sft').find((entry) => entry.run === run) as RecordedSft;
}

const tokenizer = new ByteTokenizer();

/** A row as the recorded runs have it: bytes, an end of turn, weights after "A:", reduced to their mean. */
export function rowDatum(row: string): Datum {
  const tokens = [...tokenizer.encode(row), tokenizer.endOfTurnTokenId];
  const answerAt = row.indexOf('A:') + 2;
  return datumFromModelInputWeights(
    ModelInput.fromInts(tokens),
    tokens.map((_, index) => (index < answerAt ? 0 : 1)),
    { reduction: 'mean' },
  );
}

/** The data of a recorded run, in its order. */
export function recordedData(
  { rows, testRows, rowsByEpochAndBatch }: RecordedSft,
  onBatch?: (epoch: number, batch: number) => void,
): SupervisedData {
  return {
    train: {
      batchCount: (epoch) => rowsByEpochAndBatch[epoch % rowsByEpochAndBatch.length]?.length ?? 0,
      getBatch(epoch, index) {
        onBatch?.(epoch, index);
        return (rowsByEpochAndBatch[epoch % rowsByEpochAndBatch.length]?.[index] ?? []).map((row) => rowDatum(rows[row] as string));
      },
    },
    test: testRows.map(rowDatum),
  };
}
