import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactText, redactUrl } from './redact-text.js';

const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl';

describe('redactText', () => {
  it.each([
    ['an API key', 'key is tml-abc123DEF_-x here', ['tml-abc123']],
    ['a web token', `token ${jwt}!`, ['eyJhbGci', 'c2lnbmF0']],
    ['a password in a URL', 'https://user:hunter2@host/path', ['hunter2']],
    ['a signed URL', 'see https://store.example/file?sig=abcdef&exp=1 now', ['abcdef']],
    ['an authorization value', 'Authorization: Bearer abc.def', ['abc.def']],
    ['a header in JSON', '{"X-API-Key": "sekret", "a": 1}', ['sekret']],
    ['a pair', 'client_secret=sekret&x=1', ['sekret']],
    ['a pair with a longer name', '"MY_CLIENT_SECRET_KEY_2": "sekret"', ['sekret']],
    ['a cookie', "cookie: 'session=sekret'", ['sekret']],
    ['every value of a cookie', 'Set-Cookie: a=sekret; b=other; Path=/', ['sekret', 'other']],
    ['an authorization value of any scheme', 'authorization: Digest sekret, response=other', ['sekret', 'other']],
    ['a value with escaped quotes', '{"password": "a\\"sekret"}', ['sekret']],
    ['a secret of JSON inside JSON', '{"body": "{\\"client_secret\\": \\"sekret\\"}"}', ['sekret']],
    ['a quoted value that was cut off', '{"client_secret": "sekr', ['sekr']],
    ['a session token', '?X-Amz-Security-Token=sekret&X-Amz-Date=1', ['sekret']],
    ['a signature without its URL', '/files/a?se=1&sig=sekret', ['sekret']],
    ['a password in a URL of another scheme', 'redis://user:hunter2@host', ['hunter2']],
    ['a token', 'token=sekret, {"token": "other"}', ['sekret', 'other']],
  ])('hides %s', (_what, text, secrets) => {
    const redacted = redactText(text);
    for (const secret of secrets) expect(redacted).not.toContain(secret);
    expect(redacted).toContain('[redacted]');
  });

  it.each([
    '',
    'loss 2.5 after 12 tokens',
    'https://a.example/api',
    'tinker://run/weights/step-1',
    '/api/v1/asample',
    'TINKEX_CONNECTION',
    'max_tokens: 5, valid_tokens=7',
    'see https://a.example/b, and tinker://run/weights/a',
  ])('leaves "%s" alone', (text) => {
    expect(redactText(text)).toBe(text);
  });

  it('cuts long texts, and hides a key that the cut would have split', () => {
    const redacted = redactText(`${'x'.repeat(90)} tml-${'s'.repeat(50)}`, 100);
    expect(redacted.length).toBeLessThanOrEqual(101);
    expect(redacted).not.toContain('tml-s');
  });

  it('looks through a long run of letters once, not once for each letter', () => {
    // By the square of its length this text would take minutes.
    const run = 'a'.repeat(200_000);
    expect(redactText(`${run} secret=sekret`, 300_000)).toBe(`${run} secret=[redacted]`);
  });

  it.each([
    'http://',
    '://',
    '://a@',
    'secret',
    'secret = ',
    'api_key"',
    'cookie: ',
    'bearer ',
    '?key',
    '&sig=',
    'eyJ_',
    'tml-_',
    '"',
    '\\',
    'token="',
    ' ',
  ])('takes time in proportion to a text of many "%s"', (part) => {
    // By the square of its length each would take minutes.
    for (const end of ['', '=', '"', '\n']) expect(redactText(part.repeat(400_000 / part.length) + end)).toBeTypeOf('string');
  });

  it('hides a key wherever it stands', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 50 }), fc.string({ maxLength: 50 }), (before, after) => {
        expect(redactText(`${before} tml-0123456789abcdef ${after}`)).not.toContain('0123456789abcdef');
      }),
    );
  });
});

describe('redactUrl', () => {
  it('keeps the place and the names, never the values', () => {
    expect(redactUrl('https://u:p@h.test/a/b?signature=abc&x=1&x=2#frag')).toBe('https://h.test/a/b?signature=[redacted]&x=[redacted]');
    expect(redactUrl('https://h.test/a')).toBe('https://h.test/a');
    expect(redactUrl('tml-not-a-url')).toBe('[invalid url]');
  });
});
