import { numpyPermutation } from '../data/numpy-random.js';
import type { BatchDataset } from '../data/supervised-dataset.js';
import { refuse } from '../loop/options.js';
import type { EnvGroup } from './environments/env.js';
import { sampleSeed } from './sample-seed.js';

/** Tasks of one kind, and how often they are drawn. */
export interface TaskSource {
  readonly tasks: readonly EnvGroup[];
  /** Relative to the other sources. Default 1. */
  readonly weight?: number | undefined;
}

/** Options of {@link interleaveTasks}. */
export interface InterleaveOptions {
  /** Tasks per batch. */
  readonly groupsPerBatch: number;
  /** Batches per epoch. Default: as many as no source is used up by on average, at least 1. */
  readonly totalBatches?: number | undefined;
  /** Default 0. */
  readonly seed?: number | undefined;
}

const SEED_RANGE = 2 ** 31;

/**
 * Batches that mix tasks of several sources: each place is drawn by weight and takes its source's next task, in an order that repeats none before all had their
 * turn. What a batch has depends only on the seed and its index, so that a run resumes without replaying.
 */
export function interleaveTasks(
  sources: readonly TaskSource[],
  { groupsPerBatch, totalBatches, seed = 0 }: InterleaveOptions,
): BatchDataset<EnvGroup> {
  const weights = sources.map(({ weight = 1 }) => weight);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (!sources.some(({ tasks }) => tasks.length > 0) || weights.some((weight) => !(weight >= 0)) || !(sum > 0))
    refuse('sources', 'interleaveTasks needs tasks, and weights from 0 up with a sum above 0.');
  if (sources.some(({ tasks }, index) => tasks.length === 0 && (weights[index] as number) > 0)) refuse('sources', 'A source has no tasks.');
  const lasting = sources.map(({ tasks }, index) => tasks.length / (groupsPerBatch * ((weights[index] as number) / sum)));
  const batches = totalBatches ?? Math.max(1, Math.floor(Math.min(...lasting.filter((count) => !Number.isNaN(count)))));
  const chosen: EnvGroup[] = [];
  const taken = sources.map(() => 0);
  const orders = new Map<string, ArrayLike<number>>();
  const draw = (): EnvGroup => {
    let rest = (sampleSeed(seed, chosen.length) / SEED_RANGE) * sum;
    let source = weights.findIndex((weight) => {
      rest -= weight;
      return rest < 0;
    });
    if (source < 0) source = weights.findLastIndex((weight) => weight > 0);
    const { tasks } = sources[source] as TaskSource;
    const position = taken[source] as number;
    taken[source] = position + 1;
    const key = `${source} ${Math.floor(position / tasks.length)}`;
    const order = orders.get(key) ?? numpyPermutation(sampleSeed(seed, source, Math.floor(position / tasks.length)), tasks.length);
    orders.set(key, order);
    return tasks[order[position % tasks.length] as number] as EnvGroup;
  };
  return {
    batchCount: () => batches,
    getBatch(epoch, index) {
      const begin = (epoch * batches + index) * groupsPerBatch;
      while (chosen.length < begin + groupsPerBatch) chosen.push(draw());
      return chosen.slice(begin, begin + groupsPerBatch);
    },
  };
}
