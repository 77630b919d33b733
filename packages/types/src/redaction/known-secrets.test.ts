import { describe, expect, it } from 'vitest';
import { TinkexError } from '../errors/tinkex-error.js';
import { hideKnownSecrets, rememberSecret } from './known-secrets.js';
import { redactText } from './redact-text.js';
import { redactHeaders, rememberHeaders } from './redact-value.js';

describe('hideKnownSecrets', () => {
  it.each([
    ['as it is', 'x-api-key', 'self-hosted/key+1', 'id self-hosted/key+1 end'],
    ['in a URL', 'token', 'blank and/slash 1', 'at /path?a=blank%20and%2Fslash%201&b'],
    ['in JSON', 'x-secret', 'quo"ted-value', '{"a":"quo\\"ted-value"}'],
    ['without its scheme', 'authorization', 'Custom zhgQ-41-value', 'got zhgQ-41-value'],
    ['one of several', 'cookie', 'a=first-one; b=other-one', 'b was other-one'],
  ])('hides a value that was sent, %s', (_, name, value, text) => {
    rememberSecret(name, value);
    expect(hideKnownSecrets(text)).toMatch(/\[redacted\]/);
    expect(redactText(text)).not.toMatch(/key\+1|slash|ted-value|zhgQ|other-one/);
    expect(new TinkexError({ message: text }).message).toContain('[redacted]');
  });

  it('leaves words alone that a short or ordinary parameter may hold', () => {
    rememberSecret('token', 'abc');
    rememberHeaders({ 'x-team': 'research', 'user-agent': 'an application of ours 1.0' }, true);
    const text = 'abc of research in an application of ours 1.0';
    expect(hideKnownSecrets(text)).toBe(text);
  });

  it('knows the long value of any header of a client, and of one call only those with a secret name', () => {
    rememberHeaders({ 'CF-Access-Client-Id': '0123456789abcdef.access' }, true);
    rememberHeaders({ 'x-trace': 'fedcba9876543210fedc', 'x-my-token': 'mine-1234' }, false);
    expect(hideKnownSecrets('0123456789abcdef.access fedcba9876543210fedc mine-1234')).toBe('[redacted] fedcba9876543210fedc [redacted]');
  });

  it('forgets what was used longest ago, so that it cannot grow', () => {
    for (let index = 0; index < 2_000; index += 1) rememberSecret('key', `rotating-${index}-`);
    expect(hideKnownSecrets('rotating-0- rotating-1999-')).toBe('rotating-0- [redacted]');
  });
});

it('redactHeaders hides a credential that a server echoes in a header that may be shown', () => {
  rememberSecret('x-api-key', 'local-credential');
  expect(redactHeaders({ 'x-request-id': 'req-local-credential', server: 'tml-0123456789' })).toEqual({
    'x-request-id': 'req-[redacted]',
    server: '[redacted]',
  });
});
