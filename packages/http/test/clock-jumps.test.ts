import { ConnectionError, TimeoutError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { HttpClient, outerStrategy, retry, type Transport } from '../src/index.js';
import { VirtualClock } from '../src/testing/index.js';
import { failure } from './support/failure.js';

const HOUR_MS = 3_600_000;
const SILENT: Transport = { send: () => new Promise(() => undefined), close: async () => undefined };

const JUMPS: readonly [string, (clock: VirtualClock) => void][] = [
  ['is set back', (clock) => clock.jumpWall(-HOUR_MS)],
  ['is set forward', (clock) => clock.jumpWall(HOUR_MS)],
  ['moves on while the machine sleeps', (clock) => clock.suspend(HOUR_MS)],
];

describe.each(JUMPS)('when the wall clock %s', (_name, jump) => {
  it.each([
    ['an attempt', { attemptTimeoutMs: 1_000 }],
    ['a call', { timeoutMs: 1_000 }],
  ])('%s ends at its limit', async (_what, limits) => {
    const clock = new VirtualClock();
    await using client = new HttpClient({ baseUrl: 'http://localhost', transport: SILENT, clock, maxRetries: 0, ...limits });
    const call = failure(client.request({ method: 'GET', path: '/x' }));
    await clock.advance(300);
    jump(clock);
    expect(await clock.runUntil(call, 10_000)).toBeInstanceOf(TimeoutError);
    expect(clock.elapsedMs).toBe(1_000);
  });

  it('retries last as long as they may', async () => {
    const clock = new VirtualClock();
    const lost = new ConnectionError({ message: 'lost' });
    const work = async (failures: number): Promise<never> => {
      if (failures === 1) jump(clock);
      throw lost;
    };
    const retried = failure(retry(work, { clock, strategies: [outerStrategy({ maxElapsedMs: 20_000 })] }));
    expect(await clock.runUntil(retried, HOUR_MS)).toBe(lost);
    expect(clock.elapsedMs).toBe(20_000);
  });
});
