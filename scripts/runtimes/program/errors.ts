import {
  AbortedError,
  ApiStatusError,
  ConfigurationError,
  ConnectionError,
  FutureExpiredError,
  isUserError,
  RateLimitError,
  RequestFailedError,
  TimeoutError,
  TinkexError,
  ValidationError,
} from '../../../packages/types/src/index.js';
import { apiStatusError, createModelRequest, redactText, retryAfterMs } from '../../../packages/types/src/wire.js';
import { type Check, check, same } from './check.js';

const STATUSES: Readonly<Record<number, string>> = {
  ...{ 400: 'BadRequestError', 401: 'AuthenticationError', 402: 'BillingError', 403: 'PermissionDeniedError', 404: 'NotFoundError' },
  ...{
    409: 'ConflictError',
    418: 'ApiStatusError',
    422: 'UnprocessableEntityError',
    429: 'RateLimitError',
    500: 'ServerError',
    529: 'ServerError',
  },
};

const message = 'what happened';

/** Errors by class, name and code; what an engine adds to an error of its own must not leak into what may be logged. */
export const errorChecks: readonly Check[] = [
  ...Object.entries(STATUSES).map(([status, name]) =>
    check(`status ${status} is a ${name}`, () => {
      const error = apiStatusError({ status: Number(status), method: 'POST', path: '/x', body: { detail: 'no' } });
      same([error.name, error instanceof ApiStatusError, TinkexError.isInstance(error)], [name, true, true]);
      same(error.message, `POST /x failed with status ${status}: no`);
      same(isUserError(new Error('wrapped', { cause: error })), isUserError(error));
    }),
  ),
  ...(
    [
      [new ConfigurationError({ message }), 'ConfigurationError', 'TINKEX_CONFIGURATION'],
      [new ValidationError({ direction: 'request', issues: [] }), 'ValidationError', 'TINKEX_VALIDATION'],
      [new ConnectionError({ message }), 'ConnectionError', 'TINKEX_CONNECTION'],
      [new TimeoutError({ message, phase: 'total' }), 'TimeoutError', 'TINKEX_TIMEOUT'],
      [new AbortedError(), 'AbortError', 'TINKEX_ABORTED'],
      [new RequestFailedError({ message, category: 'user' }), 'RequestFailedError', 'TINKEX_REQUEST_FAILED'],
      [new FutureExpiredError({ message }), 'FutureExpiredError', 'TINKEX_FUTURE_EXPIRED'],
    ] as const
  ).map(([error, name, code]) =>
    check(`${name} has its name, its code and a stack`, () => {
      same([error.name, error.code, error instanceof Error, typeof error.stack], [name, code, true, 'string']);
      same(String(error), `${name}: ${error.message}`);
    }),
  ),
  check('what may be logged is the same in every engine', () => {
    const error = new RequestFailedError({ message, category: 'server', requestId: 'r', attempts: 3, cause: new Error('hidden') });
    const logged = { code: 'TINKEX_REQUEST_FAILED', isRetryable: false, attempts: 3, category: 'server', requestId: 'r' };
    same(JSON.parse(JSON.stringify(error)), { name: 'RequestFailedError', message, ...logged });
    same(Object.fromEntries(Object.entries(error)), logged);
  }),
  check('the reason of a signal is the cause of an abort', () => {
    const controller = new AbortController();
    controller.abort();
    same(new AbortedError({ cause: controller.signal.reason }).cause === controller.signal.reason, true);
  }),
  check('an issue names its path', () => {
    try {
      createModelRequest.encode({ sessionId: 's', modelSeqId: 0, baseModel: 'q', loraConfig: { rank: 0 } });
    } catch (error) {
      same(ValidationError.isInstance(error) && error.issues[0]?.path, 'loraConfig.rank');
      same(String(error), 'ValidationError: Invalid CreateModelRequest: loraConfig.rank must be a whole number from 1 up, got 0');
      return;
    }
    throw new Error('no error');
  }),
  check('the wait of a 429 is read from seconds and from a date', () => {
    const nowMs = Date.UTC(2026, 0, 1);
    const error = apiStatusError({ status: 429, headers: { 'retry-after': '2' }, nowMs });
    same(error instanceof RateLimitError && error.retryAfterMs, 2000);
    same(retryAfterMs({ 'retry-after': 'Thu, 01 Jan 2026 00:00:05 GMT' }, nowMs), 5000);
  }),
  check('a key never shows', () => same(redactText('Bearer tml-abcdefghijklmnop').includes('abcdefghijklmnop'), false)),
];
