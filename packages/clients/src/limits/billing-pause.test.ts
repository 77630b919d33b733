import { VirtualClock } from '@tinkex/testkit';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../../vectors/read.js';
import { BillingPause } from './billing-pause.js';

interface Input {
  billing_exception_max_pause_duration_sec: number;
  events: { at_seconds: number; status: number }[];
}

describe('billing pause vectors', () => {
  it.each(readVectors<Input, { pause: boolean; log: string | null }[]>('billing-pause'))('$name', async ({ input, expected }) => {
    const clock = new VirtualClock();
    const start = clock.elapsedMs;
    const reports: string[] = [];
    const pause = new BillingPause(clock, input.billing_exception_max_pause_duration_sec * 1000, (level) => reports.push(level));
    const verdicts: { pause: boolean; log: string | null }[] = [];
    for (const { at_seconds, status } of input.events) {
      await clock.advance(start + at_seconds * 1000 - clock.elapsedMs);
      const { isPaused, report } = pause.judge(status);
      verdicts.push({ pause: isPaused, log: report ?? null });
    }
    expect(verdicts).toEqual(expected);
    expect(reports).toEqual(expected.flatMap(({ log }) => (log === null ? [] : [log])));
  });
});
