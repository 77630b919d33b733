import type { Checkpoint } from '@tinkex/types';

/** How hard a monitor tries. */
export interface RecoveryPolicy {
  /** Attempts for one broken run before it is given up. Default 3. */
  readonly maxAttempts?: number;
  /** Wait before the second attempt, doubled before each further one, milliseconds. Default 5,000. */
  readonly backoffMs?: number;
  /** Longest wait between attempts, milliseconds. Default 60,000. */
  readonly maxBackoffMs?: number;
  /** Whether the optimizer's state is restored too. Default true. */
  readonly restoreOptimizer?: boolean;
  /** Picks the checkpoint to go on from; undefined gives the run up. Default: the newest training checkpoint that has not expired. */
  readonly chooseCheckpoint?: (checkpoints: readonly Checkpoint[]) => Checkpoint | undefined;
}

/** The wait before attempt number `attempt` (from 1; the first does not wait). */
export function recoveryDelayMs(attempt: number, { backoffMs = 5_000, maxBackoffMs = 60_000 }: RecoveryPolicy): number {
  return attempt <= 1 ? 0 : Math.min(backoffMs * 2 ** (attempt - 2), maxBackoffMs);
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
