import { type AttemptFailure, mayHaveHappened, statusOf } from '../calls/attempt-failure.js';
import type { EndpointCaller } from '../calls/endpoint-caller.js';
import type { CallOptions } from '../runtime/call-options.js';

/** How a server answers a change that an earlier attempt has already made. */
const DONE_STATUSES = {
  deleteCheckpoint: [404],
  publishCheckpoint: [409],
  unpublishCheckpoint: [404, 409],
} as const satisfies Readonly<Record<string, readonly number[]>>;

/** A change that cannot be made twice. */
export type OnceOnlyChange = keyof typeof DONE_STATUSES;

/**
 * Makes a change that the server refuses to make twice. When the reply to an attempt is lost, the change may have been made, and the next
 * attempt learns that there is nothing left to do: that answer is then a success. The same answer without a lost reply is an error.
 */
export async function changeOnce(
  calls: EndpointCaller,
  key: OnceOnlyChange,
  params: Readonly<Record<string, string>>,
  options: CallOptions,
): Promise<void> {
  const doneStatuses: readonly number[] = DONE_STATUSES[key];
  let isInDoubt = false;
  const isDone = (failure: AttemptFailure): boolean => isInDoubt && doneStatuses.includes(statusOf(failure) ?? 0);
  const onRetry = (failure: AttemptFailure): void => {
    // The retry layers would repeat a conflict; here it is the answer, so the call ends before it waits.
    if (isDone(failure)) throw DONE_EARLIER;
    isInDoubt ||= mayHaveHappened(failure);
  };
  try {
    await calls.call(key, { params }, { ...options, onRetry });
  } catch (error) {
    if (error !== DONE_EARLIER && !isDone({ error })) throw error;
  }
}

/** Ends the retries of a call. Callers never see it. */
const DONE_EARLIER = new Error('An earlier attempt has made the change.');
