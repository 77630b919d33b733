import { backoff, type RawResponse } from '@tinkex/http';
import {
  ApiStatusError,
  ConnectionError,
  FutureExpiredError,
  type JsonValue,
  RequestFailedError,
  TinkexError,
  ValidationError,
} from '@tinkex/types';
import { apiStatusError, parseJson, type QueueReport, readFailure, readPollAnswer, readQueueReport } from '@tinkex/types/wire';

/** What came back from one poll. */
export type PollAnswer =
  | { readonly kind: 'success'; readonly contentType: string; readonly bytes: Uint8Array }
  | { readonly kind: 'refusal'; readonly error: ApiStatusError }
  | { readonly kind: 'fault'; readonly error: TinkexError };

/** Sorts a complete response: a success, or the one status that the loop reads itself. */
export function answerOfResponse({ status, headers, bytes, requestId }: RawResponse): PollAnswer {
  if (status >= 200 && status < 300) return { kind: 'success', contentType: headers['content-type'] ?? '', bytes };
  const body = readErrorBody(bytes);
  return {
    kind: 'refusal',
    error: apiStatusError({ status, headers, body, requestId, method: 'POST', path: '/api/v1/retrieve_future' }),
  };
}

/**
 * Sorts what the HTTP layer threw. An empty 400 arrives as a fault, by its rule for proxies that refuse a connection. Other errors, such as
 * a bug or a bad credential, are thrown again.
 */
export function answerOfError(error: unknown): PollAnswer {
  if (ApiStatusError.isInstance(error)) return { kind: 'refusal', error };
  if (ConnectionError.isInstance(error)) return { kind: 'fault', error };
  throw error;
}

function readErrorBody(bytes: Uint8Array): JsonValue {
  if (bytes.byteLength === 0) return '';
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!ValidationError.isInstance(error)) throw error;
    // A proxy's error page: show its text.
    return new TextDecoder().decode(bytes).trim();
  }
}

/** What the loop remembers of earlier answers for the same request. */
export interface PollMemory {
  /** Failures in a row that back off: 429, timeouts, faults. */
  readonly backoff: number;
  /** 400 answers that were forgiven. */
  readonly badRequests: number;
  /** False once the server has named the size of the result: the next poll requests the result itself. */
  readonly allowMetadataOnly: boolean;
}

/** Before the first poll. */
export const FIRST_POLL: PollMemory = { backoff: 0, badRequests: 0, allowMetadataOnly: true };

/**
 * What to do next. `repoll` waits: `pace` polls again immediately, but no faster than the floor; `after-answer` waits from now;
 * `after-start` waits from the start of the poll that failed, so that a poll which timed out after a long hold is not delayed again.
 */
export type PollDecision =
  | { readonly action: 'resolve'; readonly encoding: 'json'; readonly value: JsonValue }
  | { readonly action: 'resolve'; readonly encoding: 'protobuf'; readonly bytes: Uint8Array }
  | { readonly action: 'reject'; readonly error: TinkexError }
  | { readonly action: 'fetch'; readonly sizeBytes: number; readonly memory: PollMemory }
  | { readonly action: 'bill'; readonly error: ApiStatusError; readonly memory: PollMemory }
  | { readonly action: 'repoll'; readonly memory: PollMemory; readonly wait: PollWait; readonly queue?: QueueReport | undefined };

export type PollWait = { readonly from: 'pace' } | { readonly from: 'after-answer' | 'after-start'; readonly delayMs: number };

const BACKOFF_MS = backoff({ baseMs: 1_000, maxMs: 30_000 });
const FORGIVEN_BAD_REQUESTS = 3;
/** Statuses with which some servers report that the operation, not the poll, has failed. */
const FAILURE_STATUSES: ReadonlySet<number> = new Set([400, 404, 409, 422]);
const PACE: PollWait = { from: 'pace' };

/** The polling rules of the protocol as a function of one answer. No clock, no I/O. */
export function decidePoll(memory: PollMemory, answer: PollAnswer, requestId: string, requestType: string): PollDecision {
  switch (answer.kind) {
    case 'success':
      return decideSuccess(memory, answer, requestId, requestType);
    case 'refusal':
      return decideRefusal(memory, answer, requestId, requestType);
    case 'fault':
      return backOff(memory, 'after-start');
  }
}

function decideSuccess(
  memory: PollMemory,
  { contentType, bytes }: Extract<PollAnswer, { kind: 'success' }>,
  requestId: string,
  requestType: string,
): PollDecision {
  if (contentType.includes('application/x-protobuf')) return { action: 'resolve', encoding: 'protobuf', bytes };
  let value: JsonValue;
  try {
    value = parseJson(bytes);
  } catch (error) {
    return { action: 'reject', error: notJson(error, requestId, requestType) };
  }
  const meaning = readPollAnswer(value);
  switch (meaning.kind) {
    case 'pending':
      return again(memory, meaning.queue);
    case 'metadata':
      return fetchResult(memory, meaning.sizeBytes, requestId, requestType);
    case 'failed': {
      const { message = 'no reason given', category } = meaning.failure;
      const text = `${requestType} failed on the server: ${message}${adviceAfter(message)}`;
      return { action: 'reject', error: new RequestFailedError({ message: text, category, requestId }) };
    }
    case 'result':
      return { action: 'resolve', encoding: 'json', value };
  }
}

function decideRefusal(
  memory: PollMemory,
  { error }: Extract<PollAnswer, { kind: 'refusal' }>,
  requestId: string,
  requestType: string,
): PollDecision {
  const { status } = error;
  if (status === 402) return { action: 'bill', error, memory };
  if (status === 408) return afterTimeoutStatus(memory, error);
  if (status === 410) return { action: 'reject', error: expired(error, requestId, requestType) };
  if (status === 429) return backOff(memory, 'after-answer');
  if (status >= 500) return again(memory, undefined);
  if (status === 400 && memory.badRequests < FORGIVEN_BAD_REQUESTS) {
    return { action: 'repoll', memory: { ...memory, backoff: 0, badRequests: memory.badRequests + 1 }, wait: PACE };
  }
  return { action: 'reject', error: failureOfStatus(error, requestId, requestType) };
}

/** 408 is the ordinary "not yet"; one that carries JSON comes from the service itself and forgives earlier 400s. */
function afterTimeoutStatus(memory: PollMemory, error: ApiStatusError): PollDecision {
  if (typeof error.body !== 'object') return again(memory, undefined);
  return again({ ...memory, badRequests: 0 }, readQueueReport(error.body));
}

function again(memory: PollMemory, queue: QueueReport | undefined): PollDecision {
  return { action: 'repoll', memory: { ...memory, backoff: 0 }, wait: PACE, queue };
}

function backOff(memory: PollMemory, from: 'after-answer' | 'after-start'): PollDecision {
  const delayMs = BACKOFF_MS(memory.backoff);
  return { action: 'repoll', memory: { ...memory, backoff: memory.backoff + 1 }, wait: { from, delayMs } };
}

function fetchResult(memory: PollMemory, sizeBytes: number, requestId: string, requestType: string): PollDecision {
  if (!memory.allowMetadataOnly) {
    const issues = [{ path: 'status', message: 'says complete_metadata again, although the result itself was requested' }];
    return { action: 'reject', error: new ValidationError({ direction: 'response', subject: `${requestType} result`, issues, requestId }) };
  }
  return { action: 'fetch', sizeBytes, memory: { ...memory, backoff: 0, allowMetadataOnly: false } };
}

/** A final status. Those that mean a failed operation become a `RequestFailedError`; every other one is thrown unchanged. */
function failureOfStatus(error: ApiStatusError, requestId: string, requestType: string): ApiStatusError | RequestFailedError {
  if (!FAILURE_STATUSES.has(error.status)) return error;
  const { message = 'no reason given', category } = readFailure(error.body);
  const text = `${requestType} failed on the server (status ${error.status}): ${message}${adviceAfter(message)}`;
  // A server that answers with such a status blames the request.
  return new RequestFailedError({ message: text, category: category === 'unknown' ? 'user' : category, requestId, cause: error });
}

/**
 * Some servers run sequence IDs without a gap. An operation that was refused before it got there has left one, and every later operation of
 * the client fails.
 */
function adviceAfter(message: string): string {
  if (!/sequence conflict: expected \d+, got \d+/i.test(message)) return '';
  return (
    ' (This server takes no operation after one that it has refused: this training client cannot continue. Create a new one from your last ' +
    'checkpoint with service.createTrainingClientFromStateWithOptimizer(path), or with service.resume({ trainingRunId }).)'
  );
}

function expired(error: ApiStatusError, requestId: string, requestType: string): FutureExpiredError {
  return new FutureExpiredError({
    message: `The server no longer knows request ${requestId}. The result of this ${requestType} is lost, though the operation may have run.`,
    requestId,
    cause: error,
  });
}

function notJson(error: unknown, requestId: string, requestType: string): TinkexError {
  if (TinkexError.isInstance(error)) return error;
  const issues = [{ path: '', message: 'is neither protobuf nor JSON' }];
  return new ValidationError({ direction: 'response', subject: `${requestType} result`, issues, requestId, cause: error });
}

/** The shortest time between the starts of two polls of one request. */
export const POLL_FLOOR_MS = 25;
/** What the floor grows to while the server answers immediately. */
export const POLL_FLOOR_MAX_MS = 1_000;
/** An answer that took this long was held by the server: a long poll, which paces itself. */
export const HELD_ANSWER_MS = 1_000;

/** Half a millisecond per pending request: a server that holds no polls sees at most about 2,000 per second from one client. */
const SHARE_MS_PER_PENDING = 0.5;
const OWN_FLOOR_MS = backoff({ baseMs: POLL_FLOOR_MS, maxMs: POLL_FLOOR_MAX_MS });

/**
 * The minimum time from the start of one poll to the start of the next. The protocol says "poll again immediately", which is right for a
 * server that holds the request and a busy loop against one that does not. So the pace counts from the start of the last poll, and a held
 * poll has used it up.
 *
 * @param quickAnswers - How many answers in a row came without being held.
 * @param pending - How many requests this client polls in total.
 */
export function pollFloorMs(quickAnswers: number, pending: number): number {
  return Math.max(OWN_FLOOR_MS(quickAnswers), pending * SHARE_MS_PER_PENDING);
}
