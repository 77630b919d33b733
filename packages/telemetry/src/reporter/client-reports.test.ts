import { ConnectionError, ValidationError } from '@tinkex/types';
import { apiStatusError } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import {
  outerRetryReport,
  type PollFailure,
  pollConnectionReport,
  pollFailedReport,
  pollStatusReport,
  pollTimeoutReport,
  pollUndecodableReport,
  samplingRetryReport,
} from './client-reports.js';

const status = (code: number) => apiStatusError({ status: code, headers: {}, body: null });
const position = { requestId: 'r1', requestType: 'Sample', iteration: 3, elapsedMs: 1_500 };
const positionKeys = ['elapsed_time', 'iteration', 'request_id', 'request_type'];
const retry = { operation: 'optim_step', error: status(500), isRetried: true, attempt: 2, elapsedMs: 2_500, wallMs: 1_002_500 };
const failure = (error: unknown, kind: PollFailure['kind']): PollFailure => ({
  ...position,
  error,
  kind,
  isRetried: kind !== 'fatal',
  badRequestRetries: 0,
  connectionErrorRetries: 1,
});
const retryKeys = [
  'attempt_count',
  'current_time',
  'elapsed_time',
  'exception',
  'exception_stack',
  'exception_type',
  'func',
  'is_user_error',
  'start_time',
  'status_code',
];
const pollKeys = [
  ...positionKeys,
  'bad_request_retries',
  'connection_error_retries',
  'detail',
  'exception',
  'exception_type',
  'is_user_error',
  'kind',
  'should_retry',
  'status_code',
];
const keys = (report: { readonly data: object }) => Object.keys(report.data).sort();

describe('client reports have the names, severities and keys of the protocol', () => {
  it('outer retries', () => {
    const report = outerRetryReport(retry);
    expect(report).toMatchObject({
      name: 'InternalClientHolder.execute_with_retries.exception',
      severity: 'WARNING',
      data: { func: 'optim_step', status_code: 500, is_retryable: true, attempt_count: 2, start_time: 1_000, elapsed_time: 2.5 },
    });
    expect(keys(report)).toEqual([...retryKeys, 'is_retryable'].sort());
    expect(outerRetryReport({ ...retry, isRetried: false }).severity).toBe('ERROR');
    expect(outerRetryReport({ ...retry, isRetried: false, error: status(400) }).severity).toBe('WARNING');
    expect(outerRetryReport({ ...retry, error: new Error('x') }).data['status_code']).toBeNull();
  });

  it('sampling retries', () => {
    const report = samplingRetryReport(retry);
    expect(report).toMatchObject({ name: 'RetryHandler.execute.exception', severity: 'WARNING', data: { should_retry: true } });
    expect(keys(report)).toEqual([...retryKeys, 'should_retry'].sort());
  });

  it('polls answered with an error status', () => {
    const report = pollStatusReport(failure(status(408), 'retry'));
    expect(report).toMatchObject({ name: 'APIFuture.result_async.api_status_error', severity: 'WARNING', data: { status_code: 408 } });
    expect(keys(report)).toEqual(pollKeys.sort());
    const severe = pollStatusReport({ ...failure(status(400), 'retry_if_budget'), responseHeaders: { date: 'x' }, responseBody: 'bad' });
    expect(severe).toMatchObject({
      severity: 'ERROR',
      data: { response_headers: { date: 'x' }, request_headers: {}, response_body: 'bad' },
    });
    expect(pollStatusReport(failure(status(403), 'fatal')).severity).toBe('ERROR');
  });

  it('polls that could not connect', () => {
    const report = pollConnectionReport(failure(new ConnectionError({ message: 'reset' }), 'retryable_exception'));
    expect(report).toMatchObject({ name: 'APIFuture.result_async.connection_error', severity: 'WARNING', data: { status_code: 0 } });
    expect(keys(report)).toEqual(pollKeys.sort());
  });

  it('polls that ran out of time', () => {
    const report = pollTimeoutReport({ ...position, timeoutMs: 45_000 });
    expect(report).toMatchObject({ name: 'APIFuture.result_async.timeout', severity: 'ERROR', data: { timeout: 45, elapsed_time: 1.5 } });
    expect(keys(report)).toEqual([...positionKeys, 'timeout'].sort());
  });

  it('promises that failed', () => {
    const report = pollFailedReport({ ...position, message: 'no', category: 'user' });
    expect(report).toMatchObject({
      name: 'APIFuture.result_async.application_error',
      severity: 'WARNING',
      data: { error: 'no', error_category: 'User', is_user_error: true },
    });
    expect(pollFailedReport({ ...position, message: 'no', category: 'unknown' })).toMatchObject({
      severity: 'ERROR',
      data: { error_category: 'Unknown', is_user_error: false },
    });
  });

  it('results that cannot be decoded', () => {
    const error = new ValidationError({ message: 'bad', direction: 'response', issues: [] });
    const bytes = pollUndecodableReport({ ...position, error, resultType: 'SampleResponse', resultBytes: 12 });
    const json = pollUndecodableReport({ ...position, error, resultType: 'SampleResponse' });
    expect(bytes.name).toBe('APIFuture.result_async.proto_deserialization_error');
    expect(keys(bytes)).toEqual([...positionKeys, 'exception', 'exception_type', 'model_cls', 'proto_bytes_len'].sort());
    expect(json.name).toBe('APIFuture.result_async.validation_error');
    expect(keys(json)).toEqual([...positionKeys, 'exception', 'exception_stack', 'exception_type', 'model_cls'].sort());
  });
});
