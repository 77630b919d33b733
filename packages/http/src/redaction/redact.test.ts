import { describe, expect, it } from 'vitest';
import { cloudflareAccessHeaders } from '../environment.js';
import { redactHeaders, redactUrl } from './redact.js';

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

describe('redactUrl', () => {
  it('keeps the place and the names, never the values', () => {
    expect(redactUrl('https://u:p@h.test/a/b?signature=abc&x=1&x=2#frag')).toBe('https://h.test/a/b?signature=[redacted]&x=[redacted]');
    expect(redactUrl('https://h.test/a')).toBe('https://h.test/a');
    expect(redactUrl('tml-not-a-url')).toBe('[invalid url]');
  });
});

describe('cloudflareAccessHeaders', () => {
  it('takes what is set', () => {
    expect(cloudflareAccessHeaders({ CLOUDFLARE_ACCESS_CLIENT_ID: 'id', CLOUDFLARE_ACCESS_CLIENT_SECRET: 's' })).toEqual({
      'cf-access-client-id': 'id',
      'cf-access-client-secret': 's',
    });
    expect(cloudflareAccessHeaders({ CLOUDFLARE_ACCESS_CLIENT_ID: '' })).toEqual({});
  });
});
