import { backoff, type RetryStrategy } from '@tinkex/http';
import { AbortedError, type Checkpoint, ConfigurationError } from '@tinkex/types';

/** How a monitor restarts broken runs. */
export interface RecoveryPolicy {
  /** Attempts per broken run. Default 3. */
  readonly maxAttempts?: number | undefined;
  /** Wait before the second attempt, doubled before each further one, milliseconds. Default 5,000. */
  readonly backoffMs?: number | undefined;
  /** Longest wait between attempts, milliseconds. Default 60,000. */
  readonly maxBackoffMs?: number | undefined;
  /** Whether the optimizer's state is restored too. Default true. */
  readonly restoreOptimizer?: boolean | undefined;
  /** Picks the checkpoint to continue from; undefined gives up. Default: the newest training checkpoint that has not expired. */
  readonly chooseCheckpoint?: ((checkpoints: readonly Checkpoint[]) => Checkpoint | undefined) | undefined;
}

/** The strategy of a monitor: repeats a failed restart, except for configuration errors and after an abort. */
export function recoveryStrategy({ maxAttempts = 3, backoffMs = 5_000, maxBackoffMs = 60_000 }: RecoveryPolicy): RetryStrategy {
  const delayMs = backoff({ baseMs: backoffMs, maxMs: maxBackoffMs });
  return ({ error, failures }) => {
    const isFinal = ConfigurationError.isInstance(error) || AbortedError.isInstance(error);
    return isFinal || failures >= maxAttempts - 1 ? undefined : delayMs(failures);
  };
}

/** The newest checkpoint a run can be continued from. Sampler weights cannot. */
export function newestTrainingCheckpoint(checkpoints: readonly Checkpoint[], nowMs: number): Checkpoint | undefined {
  let newest: Checkpoint | undefined;
  for (const checkpoint of checkpoints) {
    const isUsable = checkpoint.checkpointType === 'training' && !(checkpoint.expiresAt && checkpoint.expiresAt.getTime() <= nowMs);
    if (isUsable && (newest === undefined || checkpoint.time > newest.time)) newest = checkpoint;
  }
  return newest;
}
