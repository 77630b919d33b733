import { expect, it } from 'vitest';
import { isAllowedHost } from './allowed-hosts.js';

it.each([
  ['127.0.0.1:8000', true],
  ['[::1]:8000', true],
  ['localhost', true],
  ['LOCALHOST:80', true],
  ['a.localhost:80', true],
  ['tinker.internal:8000', true],
  ['evil.example:8000', false],
  ['127.0.0.1.evil.example', false],
  ['', false],
  [undefined, false],
  ['a:b:c', false],
])('the host %s: %s', (header, expected) => {
  expect(isAllowedHost(header, ['tinker.internal'])).toBe(expected);
});
