import type { ApiStatusError, TinkexError } from '@tinkex/types';
import { type FutureCompletion, type FuturesRetrieveResponse, isRetryableStatus } from '@tinkex/types/wire';

/** What came back from one poll of a sampling session. */
export type SessionPollAnswer =
  | { readonly kind: 'success'; readonly response: FuturesRetrieveResponse }
  | { readonly kind: 'refusal'; readonly error: ApiStatusError }
  | { readonly kind: 'fault'; readonly error: TinkexError };

/** What the loop remembers of earlier answers. */
export interface SessionPollMemory {
  /** The server has reported everything up to here. */
  readonly cursor: number;
  /** 400 answers that were forgiven since the last success. */
  readonly badRequests: number;
}

/** Before the first poll. */
export const FIRST_SESSION_POLL: SessionPollMemory = { cursor: 0, badRequests: 0 };

/** What to do next. `bill` pauses while the account may be unpaid. `end` fails every waiter, those to come too. */
export type SessionPollDecision =
  | { readonly action: 'wake'; readonly memory: SessionPollMemory; readonly completions: readonly FutureCompletion[] }
  | { readonly action: 'retry'; readonly memory: SessionPollMemory; readonly delayMs: number }
  | { readonly action: 'bill'; readonly error: ApiStatusError }
  | { readonly action: 'end'; readonly error: TinkexError };

const RETRY_MS = 1_000;
const FORGIVEN_BAD_REQUESTS = 3;

/** The rules of the protocol for the poll of a sampling session, as a function of one answer. No clock, no I/O. */
export function decideSessionPoll(memory: SessionPollMemory, answer: SessionPollAnswer): SessionPollDecision {
  if (answer.kind === 'success') {
    const { cursor, completions } = answer.response;
    return { action: 'wake', memory: { cursor, badRequests: 0 }, completions };
  }
  if (answer.kind === 'fault') return { action: 'retry', memory, delayMs: RETRY_MS };
  const { error } = answer;
  if (error.status === 402) return { action: 'bill', error };
  if (isRetryableStatus(error.status)) return { action: 'retry', memory, delayMs: RETRY_MS };
  if (error.status === 400 && memory.badRequests < FORGIVEN_BAD_REQUESTS) {
    return { action: 'retry', memory: { ...memory, badRequests: memory.badRequests + 1 }, delayMs: RETRY_MS };
  }
  return { action: 'end', error };
}
