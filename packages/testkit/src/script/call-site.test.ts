import { expect, it } from 'vitest';
import { callSite, isOwnFile } from './call-site.js';

it.each([
  ['/app/node_modules/@tinkex/testkit/dist/jest/index.cjs', true],
  ['/app/node_modules/@tinkex/testkit/src/script/script.ts', true],
  ['/app/node_modules/@tinkex/testkit/test/a.test.ts', false],
  ['/app/node_modules/@tinkex/testkit/distant.ts', false],
  ['/app/src/app.test.ts', false],
])('a frame in %s is our own: %s', (path, isOwn) => {
  expect(isOwnFile(path, '/app/node_modules/@tinkex/testkit/')).toBe(isOwn);
});

it('does not name a file of the package as the place of a call', () => {
  expect(callSite()).not.toContain('call-site');
});
