import { expect, it } from 'vitest';
import { replayOptionsOf } from './serve-replay.js';

const fail = (message: string): never => {
  throw new Error(message);
};
const upstream = 'http://127.0.0.1:1';

it('tells recording, replaying and both apart', () => {
  expect(replayOptionsOf({}, fail)).toBeUndefined();
  expect(replayOptionsOf({ record: [upstream, 'a'] }, fail)).toEqual({ dir: 'a', mode: 'record', upstream });
  expect(replayOptionsOf({ replay: 'a' }, fail)).toEqual({ dir: 'a' });
  expect(replayOptionsOf({ replay: 'a', recordOnMiss: upstream }, fail)).toEqual({ dir: 'a', mode: 'record-on-miss', upstream });
});

it.each([
  [{ record: [upstream] }, 'takes a URL and a folder'],
  [{ record: [upstream, 'a', 'b'] }, 'takes a URL and a folder'],
  [{ record: [upstream, 'a'], replay: 'b' }, 'cannot be used together'],
  [{ recordOnMiss: upstream }, "without '--replay <dir>'"],
])('refuses %j', (options, message) => {
  expect(() => replayOptionsOf(options, fail)).toThrow(message);
});
