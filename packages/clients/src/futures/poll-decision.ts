import { type ApiStatusError, FutureExpiredError, type JsonObject, type JsonValue, TinkexError, ValidationError } from '@tinkex/types';
import { parseJson } from '@tinkex/types/wire';
import { asObject, failureOfAnswer, failureOfStatus, isFailure } from './failure-shapes.js';
import { type QueueReport, queueStateOfTimeout, queueStateOfTryAgain } from './queue-state.js';

/** What came back from one poll. */
export type PollAnswer =
  | { readonly kind: 'success'; readonly contentType: string; readonly bytes: Uint8Array }
  | { readonly kind: 'refusal'; readonly error: ApiStatusError }
  | { readonly kind: 'fault'; readonly error: TinkexError };

/** What the loop remembers of earlier answers to the same promise. */
export interface PollMemory {
  /** Failures in a row that back off: 429, timeouts, faults. */
  readonly backoff: number;
  /** 400 answers that were forgiven. */
  readonly badRequests: number;
  /** False once the server has said how large the result is: then the result itself is asked for. */
  readonly allowMetadataOnly: boolean;
}

/** Before the first poll. */
export const FIRST_POLL: PollMemory = { backoff: 0, badRequests: 0, allowMetadataOnly: true };

/**
 * What to do next. `repoll` waits are: `pace` = at once, but no faster than the floor; `after-answer` = so many milliseconds
 * from now; `after-start` = so many from the start of the poll that failed, so that a poll which timed out after a long hold
 * is not delayed again.
 */
export type PollDecision =
  | { readonly action: 'resolve'; readonly encoding: 'json'; readonly value: JsonValue }
  | { readonly action: 'resolve'; readonly encoding: 'protobuf'; readonly bytes: Uint8Array }
  | { readonly action: 'reject'; readonly error: TinkexError }
  | { readonly action: 'fetch'; readonly sizeBytes: number; readonly memory: PollMemory }
  | { readonly action: 'bill'; readonly error: ApiStatusError; readonly memory: PollMemory }
  | { readonly action: 'repoll'; readonly memory: PollMemory; readonly wait: PollWait; readonly queue?: QueueReport };

export type PollWait = { readonly from: 'pace' } | { readonly from: 'after-answer' | 'after-start'; readonly delayMs: number };

const MAX_BACKOFF_MS = 30_000;
const FORGIVEN_BAD_REQUESTS = 3;
const PACE: PollWait = { from: 'pace' };

/** The whole polling rule of the protocol as a function of one answer. No clock, no I/O. */
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
  const body = asObject(value);
  if (body === undefined) return { action: 'resolve', encoding: 'json', value };
  if (body['type'] === 'try_again') return again(memory, queueStateOfTryAgain(body));
  if (body['status'] === 'complete_metadata') return fetchResult(memory, body, requestId, requestType);
  if (isFailure(body)) return { action: 'reject', error: failureOfAnswer(body, requestId, requestType) };
  return { action: 'resolve', encoding: 'json', value };
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
  const body = asObject(error.body);
  if (body === undefined) return again(memory, undefined);
  return again({ ...memory, badRequests: 0 }, queueStateOfTimeout(body));
}

function again(memory: PollMemory, queue: QueueReport | undefined): PollDecision {
  return { action: 'repoll', memory: { ...memory, backoff: 0 }, wait: PACE, ...(queue === undefined ? {} : { queue }) };
}

function backOff(memory: PollMemory, from: 'after-answer' | 'after-start'): PollDecision {
  const delayMs = Math.min(2 ** memory.backoff * 1000, MAX_BACKOFF_MS);
  return { action: 'repoll', memory: { ...memory, backoff: memory.backoff + 1 }, wait: { from, delayMs } };
}

function fetchResult(memory: PollMemory, body: JsonObject, requestId: string, requestType: string): PollDecision {
  if (!memory.allowMetadataOnly) {
    const issues = [{ path: 'status', message: 'says complete_metadata again, although the result itself was asked for' }];
    return { action: 'reject', error: new ValidationError({ direction: 'response', subject: `${requestType} result`, issues, requestId }) };
  }
  const size = Number(body['response_payload_size'] ?? 0);
  return {
    action: 'fetch',
    sizeBytes: Number.isFinite(size) && size > 0 ? size : 0,
    memory: { ...memory, backoff: 0, allowMetadataOnly: false },
  };
}

function expired(error: ApiStatusError, requestId: string, requestType: string): FutureExpiredError {
  return new FutureExpiredError({
    message: `The server no longer knows the promise of this ${requestType}; its result is lost, though the operation may have run`,
    requestId,
    cause: error,
  });
}

function notJson(error: unknown, requestId: string, requestType: string): TinkexError {
  if (TinkexError.isInstance(error)) return error;
  const issues = [{ path: '', message: 'is neither protobuf nor JSON' }];
  return new ValidationError({ direction: 'response', subject: `${requestType} result`, issues, requestId, cause: error });
}
