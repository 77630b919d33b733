import type { BatchDataset } from '../data/supervised-dataset.js';
import { refuse } from '../loop/options.js';

/**
 * How many rows of a batch come from each dataset: by weight, at least one each, all of the batch together.
 *
 * @throws ConfigurationError for a batch that is smaller than the number of datasets, or a weight that is not above 0.
 */
export function mixtureCounts(weights: readonly number[], batchSize: number): number[] {
  if (batchSize < weights.length)
    refuse('batchSize', `batchSize (${batchSize}) must be at least the number of datasets (${weights.length}).`);
  if (!weights.every((weight) => weight > 0)) refuse('weights', 'Every weight must be above 0.');
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const counts = weights.slice(0, -1).map((weight) => Math.max(1, roundHalfToEven((batchSize * weight) / total)));
  const rest = () => batchSize - counts.reduce((sum, count) => sum + count, 0);
  // Small weights are rounded up to one row; the largest share gives what the last dataset would miss.
  while (rest() < 1) {
    const largest = counts.indexOf(Math.max(...counts));
    counts[largest] = (counts[largest] as number) - 1;
  }
  return [...counts, rest()];
}

/** Batches of several datasets: the first rows of the batch of each. An epoch is as long as the shortest. */
export function mixDatasets<Item>(
  datasets: readonly { readonly dataset: BatchDataset<Item>; readonly weight: number }[],
  batchSize: number,
): BatchDataset<Item> {
  const counts = mixtureCounts(
    datasets.map(({ weight }) => weight),
    batchSize,
  );
  return {
    batchCount: (epoch) => Math.min(...datasets.map(({ dataset }) => dataset.batchCount(epoch))),
    async getBatch(epoch, index) {
      const batches = await Promise.all(datasets.map(({ dataset }) => dataset.getBatch(epoch, index)));
      return batches.flatMap((batch, position) => batch.slice(0, counts[position]));
    },
  };
}

/** As Python rounds. */
function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
