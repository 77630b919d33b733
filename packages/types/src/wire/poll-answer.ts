import { failureMessage } from '../errors/failure-message.js';
import type { RequestErrorCategory } from '../errors/future-errors.js';
import type { QueueState } from '../events/payloads.js';
import { isPlainObject } from '../json/json-value.js';
import { redactText } from '../redaction/redact-text.js';
import { futureMetadataResponse, readQueueState, requestFailedResponse, tryAgainResponse } from './futures.js';

const MAX_REASON_LENGTH = 2_000;

/** What a pending answer says about the queue. */
export interface QueueReport {
  readonly state: QueueState;
  /** In the server's words, redacted and at most 2,000 characters. */
  readonly reason?: string | undefined;
}

/** What a failed operation's answer says about the failure. */
export interface FailureReport {
  /** In the server's words; not redacted. */
  readonly message?: string | undefined;
  readonly category: RequestErrorCategory;
}

/** What the JSON of a successful poll (status 2xx) means. */
export type PollAnswerMeaning =
  | { readonly kind: 'pending'; readonly queue?: QueueReport | undefined }
  /** The result exists and has this size. */
  | { readonly kind: 'metadata'; readonly sizeBytes: number }
  | { readonly kind: 'failed'; readonly failure: FailureReport }
  /** The body is the result itself. */
  | { readonly kind: 'result' };

/** Tells the answers to a poll apart, in the shapes of all known servers. Never throws: what is not recognized is a result. */
export function readPollAnswer(body: unknown): PollAnswerMeaning {
  if (!isPlainObject(body)) return { kind: 'result' };
  if (body['type'] === 'try_again') {
    const { queueState: state, queueStateReason } = tryAgainResponse.decode(body);
    const reason = readReason(queueStateReason);
    return { kind: 'pending', queue: state === 'unknown' && reason === undefined ? undefined : { state, reason } };
  }
  if (body['status'] === 'complete_metadata')
    return { kind: 'metadata', sizeBytes: futureMetadataResponse.decode(body).responsePayloadSize };
  const isFailure = body['type'] === 'request_failed' || (body['error'] !== undefined && body['error'] !== null);
  return isFailure ? { kind: 'failed', failure: readFailure(body) } : { kind: 'result' };
}

/** The queue state in the body of a refused poll (status 408). Any state that is not empty counts; one this version does not know is `unknown`. */
export function readQueueReport(body: unknown): QueueReport | undefined {
  if (!isPlainObject(body)) return undefined;
  const { queue_state: state, queue_state_reason: reason } = body;
  if (typeof state !== 'string' || state === '') return undefined;
  return { state: readQueueState(state), reason: readReason(reason) };
}

/** Goes into events and logs: a server may repeat a credential that it was sent, and may be verbose. */
function readReason(reason: unknown): string | undefined {
  return typeof reason === 'string' && reason !== '' ? redactText(reason, MAX_REASON_LENGTH) : undefined;
}

/** What a body says about a failed operation, in the shapes of all known servers. */
export function readFailure(body: unknown): FailureReport {
  if (!isPlainObject(body)) return { category: 'unknown' };
  return { message: failureMessage(body), category: requestFailedResponse.decode(body).category };
}
