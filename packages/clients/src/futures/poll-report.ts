import {
  type ClientReport,
  type PollPosition,
  pollConnectionReport,
  pollFailedReport,
  pollStatusReport,
  pollUndecodableReport,
} from '@tinkex/telemetry/reporter';
import { RequestFailedError } from '@tinkex/types';
import type { PollAnswer, PollDecision, PollMemory } from './poll-decision.js';

/**
 * The report of one poll to the service; undefined for an ordinary one. Unlike the reference client this leaves out 408, which is the
 * ordinary "not yet" of a long poll, and what a 402 pauses.
 */
export function pollReport(
  memory: PollMemory,
  answer: PollAnswer,
  decision: PollDecision,
  position: PollPosition,
): ClientReport | undefined {
  if (answer.kind === 'success') {
    if (decision.action !== 'reject' || !RequestFailedError.isInstance(decision.error)) return undefined;
    return pollFailedReport({ ...position, message: decision.error.message, category: decision.error.category });
  }
  const failure = {
    ...position,
    error: answer.error,
    isRetried: decision.action === 'repoll',
    badRequestRetries: memory.badRequests,
    connectionErrorRetries: memory.backoff,
  };
  if (answer.kind === 'fault') return pollConnectionReport({ ...failure, kind: 'retry_with_backoff' });
  const { status, headers, body } = answer.error;
  if (status === 408 || decision.action === 'bill') return undefined;
  return pollStatusReport({ ...failure, kind: kindOf(status, decision), responseHeaders: headers, responseBody: body });
}

/** The report of a result that could not be decoded. */
export function undecodableReport(
  error: unknown,
  result: Extract<PollDecision, { action: 'resolve' }>,
  position: PollPosition,
): ClientReport {
  const size = result.encoding === 'protobuf' ? { resultBytes: result.bytes.byteLength } : {};
  return pollUndecodableReport({ ...position, error, resultType: position.requestType, ...size });
}

function kindOf(
  status: number,
  decision: PollDecision,
): 'retry' | 'retry_with_backoff' | 'retry_if_budget' | 'retryable_exception' | 'fatal' {
  if (status === 410) return 'retryable_exception';
  if (decision.action === 'reject') return 'fatal';
  if (status === 400) return 'retry_if_budget';
  return status === 429 ? 'retry_with_backoff' : 'retry';
}
