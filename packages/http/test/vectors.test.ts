import { ApiStatusError, ConfigurationError, ConnectionError, TimeoutError, type TinkexError, ValidationError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../vectors/read.js';
import { jwtExpirySeconds } from '../src/auth/jwt-claims.js';
import {
  createResponse,
  HttpClient,
  outerStrategy,
  type Query,
  type RetryStrategy,
  readJwtClaims,
  readStoredKey,
  retry,
  selectCredential,
  type TransportResponse,
} from '../src/index.js';
import { VirtualClock } from '../src/testing/index.js';
import { ScriptedTransport } from './support/scripted-transport.js';

const baseUrl = 'http://service.test';

describe('http-retry-delay', () => {
  interface Expected {
    seconds?: number;
    min_seconds_exclusive?: number;
    max_seconds?: number;
  }
  const cases = readVectors<{ retries_taken: number; response_headers: Record<string, string> }, Expected>('http-retry-delay');
  it.each(cases)('$name', async ({ input, expected }) => {
    const delayWith = async (random: number): Promise<number> => {
      const clock = new VirtualClock();
      const failing = () => createResponse({ status: 503, body: { d: 1 } });
      const last = createResponse({ status: 503, body: { d: 1 }, headers: input.response_headers });
      const transport = new ScriptedTransport([
        ...Array.from({ length: input.retries_taken }, failing),
        last,
        createResponse({ body: {} }),
      ]);
      const client = new HttpClient({ baseUrl, transport, clock, random: () => random });
      await clock.runUntil(client.request({ method: 'POST', path: '/x' }));
      return (clock.waitsMs.at(-1) ?? Number.NaN) / 1_000;
    };
    if (expected.seconds !== undefined) {
      expect(await delayWith(0)).toBeCloseTo(expected.seconds, 9);
      expect(await delayWith(0.999)).toBeCloseTo(expected.seconds, 9);
    } else {
      expect(await delayWith(0)).toBeCloseTo(expected.max_seconds ?? Number.NaN, 9);
      expect(await delayWith(0.999_999)).toBeGreaterThan(expected.min_seconds_exclusive ?? Number.NaN);
      expect(await delayWith(0.999_999)).toBeCloseTo(expected.min_seconds_exclusive ?? Number.NaN, 4);
    }
  });

  it('takes a date in the future as the distance from the injected now', async () => {
    const clock = new VirtualClock();
    const headers = { 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' };
    const transport = new ScriptedTransport([createResponse({ status: 429, body: {}, headers }), createResponse({ body: {} })]);
    await clock.runUntil(new HttpClient({ baseUrl, transport, clock }).request({ method: 'GET', path: '/x' }));
    expect(clock.waitsMs).toEqual([7_000]);
  });
});

describe('http-status', () => {
  interface Input {
    status: number;
    headers?: Record<string, string>;
    body?: string;
  }
  interface Expected {
    retry?: boolean;
    error_class?: string;
    message?: string;
    body?: unknown;
  }
  /** The reference's names where ours differ. */
  const CLASS: Record<string, string> = { APIStatusError: 'ApiStatusError', InternalServerError: 'ServerError' };
  it.each(readVectors<Input, Expected>('http-status'))('$name', async ({ input, expected }) => {
    const { status, headers = {} } = input;
    const body = input.body ?? '{"d":1}';
    const transport = new ScriptedTransport([createResponse({ status, headers, body })], true);
    const clock = new VirtualClock();
    const client = new HttpClient({ baseUrl, transport, clock, maxRetries: expected.retry === undefined ? 0 : 1 });
    const error = await clock.runUntil(client.request({ method: 'POST', path: '/x' }).catch((reason: unknown) => reason));
    if (!ApiStatusError.isInstance(error)) throw error;
    if (expected.retry !== undefined) {
      expect(transport.requests).toHaveLength(expected.retry ? 2 : 1);
      expect(error.attempts).toBe(expected.retry ? 2 : 1);
    }
    if (expected.error_class !== undefined) {
      const own = status === 402 ? 'BillingError' : (CLASS[expected.error_class] ?? expected.error_class);
      expect(error.name).toBe(own);
    }
    if ('body' in expected) {
      expect(error.body).toEqual(expected.body);
      if (typeof expected.body === 'string') expect(error.message).toContain(expected.body);
      expect(error.message).toContain(String(status));
    }
  });
});

describe('retry-delays of the outer layer', () => {
  interface Input {
    layer: string;
    failures_so_far: number;
    elapsed_seconds: number;
  }
  const cases = readVectors<Input, { seconds?: number; raise?: boolean }>('retry-delays').filter(
    ({ input }) => input.layer === 'execute_with_retries',
  );
  it('has cases', () => expect(cases.length).toBe(13));
  it.each(cases)('$name', ({ input, expected }) => {
    const error = new ConnectionError({ message: 'x' });
    const elapsedMs = input.elapsed_seconds * 1_000;
    expect(outerStrategy()({ error, failures: input.failures_so_far - 1, elapsedMs, wallMs: elapsedMs })).toBe(
      expected.raise ? undefined : (expected.seconds ?? Number.NaN) * 1_000,
    );
  });
});

describe('urls', () => {
  it.each(readVectors<{ base_url: string; path: string }, string>('urls'))('$name', async ({ input, expected }) => {
    const transport = new ScriptedTransport([createResponse({ body: {} })]);
    await new HttpClient({ baseUrl: input.base_url, transport }).request({ method: 'GET', path: input.path });
    expect(transport.requests[0]?.url).toBe(expected);
  });
});

describe('query-strings', () => {
  it.each(readVectors<Query, string>('query-strings'))('$name', async ({ input, expected }) => {
    const transport = new ScriptedTransport([createResponse({ body: {} })]);
    await new HttpClient({ baseUrl, transport }).request({ method: 'GET', path: '/x', query: input });
    expect(transport.requests[0]?.url).toBe(`${baseUrl}/x?${expected}`);
  });
});

describe('auth-provider', () => {
  interface Input {
    api_key_argument: string | null;
    TINKER_API_KEY: string | null;
    TINKER_CREDENTIAL_CMD: string | null;
    enforce_cmd: boolean;
    stored?: object | string | null;
  }
  interface Expected {
    error?: string;
    provider?: string;
    credential?: string;
    command?: string;
  }
  it.each(readVectors<Input, Expected>('auth-provider'))('$name', ({ input, expected }) => {
    const { stored = null } = input;
    const file = stored === null || typeof stored === 'string' ? stored : JSON.stringify(stored);
    const select = () =>
      selectCredential({
        apiKey: input.api_key_argument ?? undefined,
        environmentApiKey: input.TINKER_API_KEY ?? undefined,
        command: input.TINKER_CREDENTIAL_CMD ?? undefined,
        storedApiKey: file === null ? undefined : readStoredKey(file),
        isCommandRequired: input.enforce_cmd,
      });
    if (expected.error !== undefined) expect(select).toThrow(ConfigurationError);
    else if (expected.provider === 'api_key') expect(select()).toEqual({ source: 'apiKey', apiKey: expected.credential });
    else expect(select()).toEqual({ source: 'command', command: expected.command });
  });
});

describe('credentials-file', () => {
  interface StoredFile {
    version: number;
    default?: string;
    keys: Record<string, { key: string }>;
  }
  // The SDK only reads the file: each state that the reference writes gives its default key.
  it.each(readVectors<{ before?: StoredFile | null }, { after?: StoredFile }>('credentials-file'))('$name', ({ input, expected }) => {
    for (const file of [input.before, expected.after]) {
      if (file) expect(readStoredKey(JSON.stringify(file))).toBe(file.keys[file.default ?? '']?.key);
    }
  });

  it('an unreadable file is named without showing its content', () => {
    for (const text of [
      'tml-secret',
      '["tml-secret"]',
      '{"version":2}',
      '{"keys":{"a":{"type":"oauth","key":"tml-secret"}}}',
      '{"default":5}',
    ]) {
      expect(() => readStoredKey(text)).toThrow(/credentials\.json\) (?:is|has) .*Repair or delete it/);
      expect(() => readStoredKey(text)).not.toThrow(/tml-secret/);
    }
  });
});

describe('jwt', () => {
  interface Expected {
    claims?: unknown;
    claims_error?: boolean;
    exp?: number;
    exp_error?: boolean;
  }
  it.each(readVectors<string, Expected>('jwt'))('$name', ({ input, expected }) => {
    if (expected.claims_error) expect(() => readJwtClaims(input)).toThrow(ValidationError);
    else expect(readJwtClaims(input)).toEqual(expected.claims);
    if (expected.exp_error) expect(() => jwtExpirySeconds(input)).toThrow(ValidationError);
    else expect(jwtExpirySeconds(input)).toBe(expected.exp);
  });
});

describe('submit-retry', () => {
  interface Answer {
    status?: number;
    body?: unknown;
    headers?: Record<string, string>;
    connection_error?: boolean;
    timeout?: boolean;
  }
  interface Input {
    http_max_retries: number;
    execute_with_retries: boolean;
    responses: Answer[];
    repeat_last?: boolean;
  }
  interface Expected {
    outcome: 'result' | 'error';
    error?: string;
    requests: number;
    sleeps: number[];
    retry_counts: number[];
    distinct_idempotency_keys: number;
  }
  const CLASS: Record<string, string> = {
    APIStatusError: 'BillingError',
    InternalServerError: 'ServerError',
    APITimeoutError: 'TimeoutError',
    APIConnectionError: 'ConnectionError',
    APIResponseValidationError: 'ValidationError',
  };
  const answer = ({ status, body, headers = {}, connection_error, timeout }: Answer): TransportResponse | Error => {
    if (connection_error) return new ConnectionError({ message: 'reset' });
    if (timeout) return new TimeoutError({ message: 'late', phase: 'headers' });
    return createResponse({ status: status ?? 0, headers, body: body ?? undefined });
  };
  const schema = {
    decode(value: unknown): string {
      const id = (value as { request_id?: unknown }).request_id;
      if (typeof id === 'string') return id;
      throw new ValidationError({ direction: 'response', issues: [{ path: 'request_id', message: 'is missing' }] });
    },
  };
  it.each(readVectors<Input, Expected>('submit-retry'))('$name', async ({ input, expected }) => {
    const clock = new VirtualClock();
    const transport = new ScriptedTransport(input.responses.map(answer), input.repeat_last);
    const client = new HttpClient({ baseUrl, transport, clock, random: () => 0 });
    const call = () => client.request({ method: 'POST', path: '/submit', body: {}, schema, maxRetries: input.http_max_retries });
    const billing: RetryStrategy = ({ status }) => (status === 402 ? { pauseMs: 5_000 } : undefined);
    const outcome = input.execute_with_retries ? retry(call, { clock, strategies: [billing, outerStrategy()] }) : call();
    const settled = await clock.runUntil(
      outcome.then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      ),
    );
    if (expected.outcome === 'result') expect(settled).toEqual({ value: 'req-1' });
    else expect((settled as { error: TinkexError }).error.name).toBe(CLASS[expected.error ?? ''] ?? expected.error);
    expect(transport.requests).toHaveLength(expected.requests);
    expect(clock.waitsMs.map((ms) => ms / 1_000)).toEqual(expected.sleeps);
    expect(transport.headers('x-stainless-retry-count')).toEqual(expected.retry_counts.map(String));
    expect(new Set(transport.headers('x-idempotency-key')).size).toBe(expected.distinct_idempotency_keys);
    expect(clock.pending).toBe(0);
  });
});
