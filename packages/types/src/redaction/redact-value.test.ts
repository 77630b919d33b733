import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactHeaders, redactValue } from './redact-value.js';

describe('redactHeaders', () => {
  it('shows what is known to be harmless and nothing else', () => {
    const headers = {
      'X-API-Key': 'tml-k',
      authorization: 'Bearer x',
      'content-type': 'text/plain',
      'x-new': 'unknown',
      vary: ['a', 'b'],
      absent: undefined,
    };
    expect(redactHeaders(headers)).toEqual({
      'x-api-key': '[redacted]',
      authorization: '[redacted]',
      'content-type': 'text/plain',
      'x-new': '[redacted]',
      vary: 'a, b',
    });
  });
});

describe('redactValue', () => {
  it('hides values of fields that hold secrets, and keeps counts', () => {
    expect(redactValue({ api_key: 'x', apiKey: 'x', token: 'x', prompt_tokens: 3, nested: { 'set-cookie': 'x', password: null } })).toEqual(
      {
        api_key: '[redacted]',
        apiKey: '[redacted]',
        token: '[redacted]',
        prompt_tokens: 3,
        nested: { 'set-cookie': '[redacted]', password: null },
      },
    );
  });

  it('keeps well-known headers only', () => {
    const headers = {
      'x-api-key': 'tml-abcdef',
      'cf-access-client-secret': 'x',
      'x-unheard-of': ['x'],
      'content-type': 'application/json',
    };
    expect(redactValue({ request_headers: headers })).toEqual({
      request_headers: {
        'x-api-key': '[redacted]',
        'cf-access-client-secret': '[redacted]',
        'x-unheard-of': '[redacted]',
        'content-type': 'application/json',
      },
    });
  });

  it('keeps nulls, leaves out what is undefined, and turns the rest into JSON', () => {
    const value = {
      a: null,
      b: undefined,
      c: Number.NaN,
      d: 10n,
      e: new Date(0),
      f: new Uint8Array(3),
      g: new TypeError('bad'),
      h: () => 1,
    };
    expect(redactValue(value)).toEqual({
      a: null,
      c: 'NaN',
      d: '10',
      e: '1970-01-01T00:00:00.000Z',
      f: '[3 bytes]',
      g: 'TypeError: bad',
      h: null,
    });
  });

  it('ends for values that contain themselves, and bounds lists', () => {
    const ring: Record<string, unknown> = { many: Array.from({ length: 5_000 }, (_, index) => index) };
    ring['self'] = ring;
    const redacted = redactValue(ring) as { many: unknown[] };
    expect(redacted.many).toHaveLength(100);
    expect(JSON.stringify(redacted)).toContain('[too deep]');
  });

  it('always makes serialisable values', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withTypedArray: true, withMap: true }), (value) => {
        expect(() => JSON.stringify(redactValue(value))).not.toThrow();
      }),
    );
  });
});
