import { type AttemptFailure, mayHaveHappened, statusOf } from '../calls/attempt-failure.js';
import type { CallOptions } from '../runtime/call-options.js';
import type { Connection } from '../service/connection.js';

/** What a server answers to a change that an earlier attempt has already made. */
const DONE_EARLIER = {
  deleteCheckpoint: [404],
  publishCheckpoint: [409],
  unpublishCheckpoint: [404, 409],
} as const satisfies Readonly<Record<string, readonly number[]>>;

/** A change that cannot be made twice. */
export type OnceOnlyChange = keyof typeof DONE_EARLIER;

/**
 * Makes a change that the server refuses to make twice. When the reply to an attempt is lost, the change may have been made, and the
 * next attempt is told that there is nothing left to do: that answer is then a success. The same answer to a call whose attempts leave
 * no doubt is the error it always was.
 */
export async function changeOnce(
  connection: Connection,
  key: OnceOnlyChange,
  params: Readonly<Record<string, string>>,
  options: CallOptions,
): Promise<void> {
  const doneStatuses: readonly number[] = DONE_EARLIER[key];
  let isInDoubt = false;
  const isDone = (failure: AttemptFailure): boolean => isInDoubt && doneStatuses.includes(statusOf(failure) ?? 0);
  const onRetry = (failure: AttemptFailure): void => {
    // A conflict is worth another try to the retry layers; here it is the answer, so the call ends before it waits.
    if (isDone(failure)) throw doneEarlier;
    isInDoubt ||= mayHaveHappened(failure);
  };
  try {
    await connection.call(key, { params }, { ...options, onRetry });
  } catch (error) {
    if (error !== doneEarlier && !isDone({ error })) throw error;
  }
}

/** Ends the retries of a call. Never seen by the caller. */
const doneEarlier = new Error('An earlier attempt has made the change.');
