import { ApiStatusError, ConflictError, ConnectionError, TimeoutError } from '@tinkex/types';

/** How one attempt of a call failed: with an answer, or without one. */
export interface AttemptFailure {
  /** Set when the server answered. */
  readonly status?: number | undefined;
  readonly error?: unknown;
}

/** The system's codes for a connection that was never established. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);

/** The status of the server's answer, if it answered. */
export function statusOf({ status, error }: AttemptFailure): number | undefined {
  return status ?? (ApiStatusError.isInstance(error) ? error.status : undefined);
}

/**
 * Whether the server may have done what this attempt asked for: the request was sent, and no answer came back, or the answer of a broken
 * server or proxy. A connection that was never established and an answer that refuses leave no doubt.
 */
export function mayHaveHappened(failure: AttemptFailure): boolean {
  const status = statusOf(failure);
  if (status !== undefined) return status === 408 || status >= 500;
  const { error } = failure;
  if (!ConnectionError.isInstance(error)) return false;
  if (TimeoutError.isInstance(error) && error.phase === 'connect') return false;
  const code = (error.cause as { readonly code?: unknown } | null | undefined)?.code;
  return !(typeof code === 'string' && NEVER_SENT.has(code));
}

/** Whether the server answered that it does not have the endpoint. */
export function isMissingEndpoint(error: unknown): boolean {
  const status = statusOf({ error });
  return status === 404 || status === 405;
}

/** Follows the attempts of one operation, to tell at the end whether an earlier one may have been executed. */
export class Doubt {
  #isOpen = false;

  /** Whether an attempt so far may have been executed without the client learning of it. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  note(failure: AttemptFailure): void {
    this.#isOpen ||= mayHaveHappened(failure);
  }

  /** A conflict after a lost answer most likely is with the operation itself. */
  explain(error: unknown): unknown {
    if (this.#isOpen && ConflictError.isInstance(error) && !error.message.includes(MAY_HAVE_RUN)) error.message += MAY_HAVE_RUN;
    return error;
  }
}

const MAY_HAVE_RUN = ' (The answer to an earlier attempt was lost: the operation may have run. Check its effect before you repeat it.)';
