import { expect, it } from 'vitest';
import { ValidationError } from '../src/index.js';
import { endpoints, futureMetadataResponse, retryAfterMs } from '../src/wire.js';

/** Read in quadratic time, this takes hours. */
const DIGITS = '1'.repeat(1_000_000);

it.each([`${DIGITS}x`, `${DIGITS}.${DIGITS}x`, `${' '.repeat(1_000_000)}x`, `1e${DIGITS}x`])(
  'numeric text is refused in time that follows its length',
  (text) => {
    const answer = { supported_models: [{ model_name: 'm', max_context_length: text }] };
    expect(() => endpoints.getServerCapabilities.response.decode(answer)).toThrow(ValidationError);
    expect(retryAfterMs({ 'retry-after': text, 'retry-after-ms': text }, 0)).toBeUndefined();
  },
);

it.each([
  [1e308, 2 ** 40],
  ['1e308', 2 ** 40],
  [Number.POSITIVE_INFINITY, 0],
  [-5, 0],
  [30_000_000, 30_000_000],
])('the size %s of a result is within what a budget can count exactly', (size, expected) => {
  const answer = { status: 'complete_metadata', response_payload_size: size };
  expect(futureMetadataResponse.decode(answer).responsePayloadSize).toBe(expected);
});
