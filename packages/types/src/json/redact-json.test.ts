import { describe, expect, it } from 'vitest';
import { redactJson } from './redact-json.js';

describe('redactJson', () => {
  it('hides secrets by name and by shape, and keeps everything else complete', () => {
    const tokens = Array.from({ length: 500 }, (_, index) => index);
    const value = { jwt: 'eyJhbGciOiJI.e30.x', api_key: 'hunter2', deep: [[[[[[[{ url: 'https://a.example/f?sig=abc' }]]]]]]], tokens };
    expect(redactJson(value)).toEqual({
      jwt: '[redacted]',
      api_key: '[redacted]',
      deep: [[[[[[[{ url: 'https://a.example/f?[redacted]' }]]]]]]],
      tokens,
    });
  });

  it('returns a value without secrets as it is', () => {
    const value = { prompt: { chunks: [{ tokens: [1, 2], type: 'encoded_text' }] }, max_tokens: 5, text: 'a token' };
    expect(redactJson(value)).toBe(value);
  });
});
