import { checkOptions, refuse } from '../../loop/options.js';

/** What happens when an episode fails. */
export type RolloutStrategy =
  /** The run ends with the error. */
  | 'fail-fast'
  /** Failed episodes are played again, `maxRetries` times per group (default 3); after that the group is left out and counted. */
  | { readonly type: 'retry'; readonly maxRetries?: number | undefined }
  /**
   * A group is kept when enough of its episodes succeeded: `minShare` of them (default 0.75, rounded up). Below that, failed episodes are played again,
   * `maxRetries` times per group (default 3); after that the group is left out and counted.
   */
  | { readonly type: 'min-viable'; readonly minShare?: number | undefined; readonly maxRetries?: number | undefined };

/** A strategy as numbers: how many episodes must succeed, and how often failed ones are played again. */
export interface FailureRules {
  /** Whether a group that cannot be completed ends the run. */
  readonly isFatal: boolean;
  readonly maxRetries: number;
  /** The least number of successful episodes for a group of a size. Undefined: all. */
  readonly leastSuccesses?: ((groupSize: number) => number) | undefined;
}

const DEFAULT_MAX_RETRIES = 3;
const DEFAULT_MIN_SHARE = 0.75;

/** @throws ConfigurationError for a number out of range. */
export function failureRules(strategy: RolloutStrategy): FailureRules {
  if (strategy === 'fail-fast') return { isFatal: true, maxRetries: 0 };
  const { maxRetries = DEFAULT_MAX_RETRIES } = strategy;
  checkOptions({ maxRetries }, { countsFromZero: ['maxRetries'] });
  if (strategy.type === 'retry') return { isFatal: false, maxRetries };
  const { minShare = DEFAULT_MIN_SHARE } = strategy;
  if (!(minShare > 0 && minShare <= 1)) refuse('minShare', `minShare must be above 0 and at most 1; got ${minShare}.`);
  return { isFatal: false, maxRetries, leastSuccesses: (groupSize) => Math.ceil(minShare * groupSize) };
}
