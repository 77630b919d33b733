import { isUserError } from '@tinkex/types';
import { errorMessage, errorStatus, errorType } from './exception-report.js';
import type { GenericReport } from './telemetry-event.js';

/** A generic report without its kind, as `ServiceReporter.event` takes it. */
export type ClientReport = Omit<GenericReport, 'kind'>;

/** One failed attempt inside a retry layer. */
export interface RetryFailure {
  /** The operation's name. */
  readonly operation: string;
  readonly error: unknown;
  readonly isRetried: boolean;
  readonly attempt: number;
  /** Since the first attempt started, milliseconds. */
  readonly elapsedMs: number;
  /** When the attempt failed, milliseconds since the epoch. */
  readonly wallMs: number;
}

/** The future that was polled, and how far polling had come. */
export interface PollPosition {
  readonly requestId: string;
  readonly requestType: string;
  /** Counts the polls, from 0. */
  readonly iteration: number;
  readonly elapsedMs: number;
}

/** A poll that failed, with an error status or without an answer. */
export interface PollFailure extends PollPosition {
  readonly error: unknown;
  readonly kind: 'retry' | 'retry_with_backoff' | 'retry_if_budget' | 'retryable_exception' | 'fatal';
  readonly isRetried: boolean;
  readonly detail?: string | undefined;
  readonly badRequestRetries: number;
  readonly connectionErrorRetries: number;
  /** Sent for 400 and fatal answers only; redacted by an allow-list. */
  readonly responseHeaders?: Readonly<Record<string, string>> | undefined;
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined;
  readonly responseBody?: unknown;
}

/** A failure in the retry layer around submissions and session calls; `attempt` from 0. Not for a paused 402. */
export function outerRetryReport(failure: RetryFailure): ClientReport {
  const data = { ...retryData(failure), is_retryable: failure.isRetried };
  return { name: 'InternalClientHolder.execute_with_retries.exception', severity: retrySeverity(failure), data };
}

/** A failure in the retry layer of sampling; `attempt` from 1. */
export function samplingRetryReport(failure: RetryFailure): ClientReport {
  const data = { ...retryData(failure), should_retry: failure.isRetried };
  return { name: 'RetryHandler.execute.exception', severity: retrySeverity(failure), data };
}

/** A poll answered with an error status. Not for a paused 402. */
export function pollStatusReport(failure: PollFailure): ClientReport {
  const status = errorStatus(failure.error) ?? 0;
  const data = pollFailureData(failure, status);
  const isSevere = status === 400 || failure.kind === 'fatal';
  if (isSevere) {
    data['response_headers'] = failure.responseHeaders ?? {};
    data['request_headers'] = failure.requestHeaders ?? {};
    data['response_body'] = failure.responseBody ?? null;
  }
  return { name: 'APIFuture.result_async.api_status_error', severity: isSevere ? 'ERROR' : 'WARNING', data };
}

/** A poll that timed out or could not connect. */
export function pollConnectionReport(failure: PollFailure): ClientReport {
  return { name: 'APIFuture.result_async.connection_error', severity: 'WARNING', data: pollFailureData(failure, 0) };
}

/** A wait that reached its time limit. */
export function pollTimeoutReport(position: PollPosition & { readonly timeoutMs: number }): ClientReport {
  const data = { ...positionData(position), timeout: position.timeoutMs / 1_000 };
  return { name: 'APIFuture.result_async.timeout', severity: 'ERROR', data };
}

/** A future that ended in failure. */
export function pollFailedReport(
  failure: PollPosition & { readonly message: string; readonly category: 'user' | 'server' | 'unknown' },
): ClientReport {
  const isUserFault = failure.category === 'user';
  const category = failure.category.charAt(0).toUpperCase() + failure.category.slice(1);
  const data = { ...positionData(failure), error: failure.message, error_category: category, is_user_error: isUserFault };
  return { name: 'APIFuture.result_async.application_error', severity: isUserFault ? 'WARNING' : 'ERROR', data };
}

/** A result that cannot be decoded: protobuf (pass `resultBytes`) or JSON. */
export function pollUndecodableReport(
  failure: PollPosition & { readonly error: unknown; readonly resultType: string; readonly resultBytes?: number | undefined },
): ClientReport {
  const isProtobuf = failure.resultBytes !== undefined;
  const data = { ...positionData(failure), ...exceptionData(failure.error), model_cls: failure.resultType };
  return isProtobuf
    ? {
        name: 'APIFuture.result_async.proto_deserialization_error',
        severity: 'ERROR',
        data: { ...data, proto_bytes_len: failure.resultBytes },
      }
    : { name: 'APIFuture.result_async.validation_error', severity: 'ERROR', data: { ...data, exception_stack: stackOf(failure.error) } };
}

function retrySeverity({ isRetried, error }: RetryFailure): 'WARNING' | 'ERROR' {
  return isRetried || isUserError(error) ? 'WARNING' : 'ERROR';
}

function exceptionData(error: unknown): Record<string, unknown> {
  return { exception: errorMessage(error), exception_type: errorType(error) };
}

function retryData({ operation, error, attempt, elapsedMs, wallMs }: RetryFailure): Record<string, unknown> {
  return {
    func: operation,
    ...exceptionData(error),
    exception_stack: stackOf(error),
    status_code: errorStatus(error) ?? null,
    is_user_error: isUserError(error),
    attempt_count: attempt,
    start_time: (wallMs - elapsedMs) / 1_000,
    current_time: wallMs / 1_000,
    elapsed_time: elapsedMs / 1_000,
  };
}

function pollFailureData(failure: PollFailure, status: number): Record<string, unknown> {
  return {
    ...positionData(failure),
    status_code: status,
    detail: failure.detail ?? null,
    kind: failure.kind,
    should_retry: failure.isRetried,
    is_user_error: isUserError(failure.error),
    ...exceptionData(failure.error),
    bad_request_retries: failure.badRequestRetries,
    connection_error_retries: failure.connectionErrorRetries,
  };
}

function positionData({ requestId, requestType, iteration, elapsedMs }: PollPosition): Record<string, unknown> {
  return { request_id: requestId, request_type: requestType, iteration, elapsed_time: elapsedMs / 1_000 };
}

function stackOf(error: unknown): string | null {
  return error instanceof Error ? (error.stack ?? null) : null;
}
