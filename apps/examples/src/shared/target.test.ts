import { expect, it } from 'vitest';
import { openTarget } from './target.js';

it.each([
  ['success', false],
  ['interrupted', true],
] as const)('the session of an example ends as %s', async (reason, isInterrupted) => {
  const user = new AbortController();
  const target = await openTarget({ signal: user.signal, named: {} });
  await target.service.sessionId();
  if (isInterrupted) user.abort();
  await target[Symbol.asyncDispose]();
  expect(target.server?.callsTo('finishSession').map(({ request }) => request)).toEqual([{ reason, detail: null }]);
});
