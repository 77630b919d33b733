import { type Checkpoint, ConflictError, FutureExpiredError, TinkexError } from '@tinkex/types';
import { mayHaveHappened } from '../calls/attempt-failure.js';
import type { CallOptions } from '../runtime/call-options.js';
import type { SessionConnection } from '../service/connection.js';
import type { RecentSave } from './recent-saves.js';

/** Clocks of the server and of this machine may differ by this much, either way. */
export const CLOCK_TOLERANCE_MS = 60_000;

/** A save whose outcome may have to be looked up. */
export interface SaveAttempt {
  readonly connection: SessionConnection;
  readonly modelId: string;
  /** The checkpoint's name. */
  readonly name: string;
  readonly kind: 'weights' | 'sampler_weights';
  readonly startedAtMs: number;
  /** Among the saves of this client: an earlier one under the same name must not be taken for this one. */
  readonly recent: RecentSave;
  readonly signal: AbortSignal;
  /** The caller's own, for every request of the call. */
  readonly headers: CallOptions['headers'];
}

/** The submission of a save: a promise to wait for, or the path if the save has turned out to be done already. */
export type SaveSubmission = { readonly requestId: string } | { readonly path: string };

/**
 * Submits a save. An attempt whose answer was lost may have been accepted; some servers answer the repetition with 409
 * instead of the original promise. Then the list of checkpoints decides: if the checkpoint is there and new, the save is
 * done, and nothing is saved twice. A 409 to the very first attempt is an ordinary conflict.
 */
export async function submitSave(attempt: SaveAttempt, send: () => Promise<{ readonly requestId: string }>): Promise<SaveSubmission> {
  const { connection, signal } = attempt;
  let isAmbiguous = false;
  try {
    return await connection.retry(
      async (): Promise<SaveSubmission> => {
        try {
          return await send();
        } catch (error) {
          if (isAmbiguous && ConflictError.isInstance(error)) {
            const path = await findSaved(attempt);
            if (path !== undefined) return { path };
          }
          isAmbiguous ||= mayHaveHappened({ error });
          throw error;
        }
      },
      { operation: 'save', signal },
    );
  } catch (error) {
    const path = isAmbiguous && !signal.aborted ? await findSaved(attempt) : undefined;
    if (path !== undefined) return { path };
    throw error;
  }
}

/** When the promise of a save is lost, the checkpoint may still be there. */
export async function recoverLostSave(attempt: SaveAttempt, error: unknown): Promise<string> {
  const path = FutureExpiredError.isInstance(error) ? await findSaved(attempt) : undefined;
  if (path === undefined) throw error;
  return path;
}

/** The path of the checkpoint if it was saved since this call began. A list that cannot be had decides nothing. */
async function findSaved(attempt: SaveAttempt): Promise<string | undefined> {
  const { connection, modelId, name, kind, signal, headers } = attempt;
  const options = { signal, hasOuterRetry: false, ...(headers === undefined ? {} : { headers }) };
  let checkpoints: readonly Checkpoint[];
  try {
    ({ checkpoints } = await connection.call('listCheckpoints', { params: { trainingRunId: modelId } }, options));
  } catch (error) {
    if (signal.aborted || !TinkexError.isInstance(error)) throw error;
    return undefined;
  }
  const type = kind === 'weights' ? 'training' : 'sampler';
  const found = checkpoints.find(
    ({ checkpointId, checkpointType, time }) =>
      checkpointType === type && (checkpointId === `${kind}/${name}` || checkpointId === name) && isOfThisSave(time.getTime(), attempt),
  );
  return found?.tinkerPath;
}

/** Whatever the clocks say: not older than this call, and not what an earlier call has saved under the same name. */
function isOfThisSave(savedAtMs: number, { startedAtMs, recent }: SaveAttempt): boolean {
  if (savedAtMs < startedAtMs - CLOCK_TOLERANCE_MS) return false;
  const previousAtMs = recent.previousAtMs();
  return previousAtMs === undefined || savedAtMs > previousAtMs + CLOCK_TOLERANCE_MS;
}
