import { ConnectionError, RequestFailedError } from '@tinkex/types';
import { apiStatusError } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/protocol/user-error.json' with { type: 'json' };
import { exceptionReport } from './exception-report.js';

type Input = { error: string; status?: number; category?: string };

function makeError({ error, status, category }: Input): Error {
  const make = () => apiStatusError({ status: status ?? 0, headers: {}, body: { detail: 'bad' } });
  if (error === 'status') return make();
  if (error === 'request_failed') return new RequestFailedError({ message: 'failed', category: category as 'user' | 'server' | 'unknown' });
  if (error === 'connection') return new ConnectionError({ message: 'reset' });
  return status === undefined ? new Error('plain') : new Error('wrapped', { cause: make() });
}

describe('exceptionReport', () => {
  it.each(vectors.cases)('classifies $name by the shared vectors', ({ input, expected }) => {
    const report = exceptionReport(makeError(input as Input));
    expect(report.kind === 'GENERIC_EVENT' && report.name === 'user_error').toBe(expected);
    expect(report.kind === 'UNHANDLED_EXCEPTION').toBe(!expected);
  });

  it('reports status and body of the status error, at any depth of causes', () => {
    const error = new Error('outer', { cause: apiStatusError({ status: 400, headers: {}, body: { detail: 'bad' } }) });
    expect(exceptionReport(error)).toMatchObject({
      severity: 'WARNING',
      data: { error_type: 'BadRequestError', status_code: 400, body: { detail: 'bad' }, message: expect.stringContaining('400') },
    });
  });

  it('leaves out what a user error does not have', () => {
    expect(exceptionReport(new RequestFailedError({ message: '', category: 'user' }))).toMatchObject({
      data: { error_type: 'RequestFailedError' },
    });
    const { data } = exceptionReport(apiStatusError({ status: 404, headers: {}, body: {} })) as { data: Record<string, unknown> };
    expect(data['body']).toBeUndefined();
  });

  it('takes anything that can be thrown', () => {
    expect(exceptionReport('text', 'CRITICAL')).toEqual({
      kind: 'UNHANDLED_EXCEPTION',
      severity: 'CRITICAL',
      errorType: 'string',
      errorMessage: 'text',
    });
    expect(exceptionReport(Object.create(null))).toMatchObject({ errorType: 'object', errorMessage: '[object Object]' });
    expect(exceptionReport(undefined)).toMatchObject({ errorType: 'undefined' });
  });

  it('ends for errors that cause each other', () => {
    const one: Error = new Error('one');
    one.cause = new Error('two', { cause: one });
    expect(exceptionReport(one)).toMatchObject({
      kind: 'UNHANDLED_EXCEPTION',
      errorMessage: 'one',
      traceback: expect.stringContaining('one'),
    });
  });
});
