import { describe, expect, it } from 'vitest';
import vectors from '../../../../vectors/protocol/session-duration.json' with { type: 'json' };
import { sessionDuration } from './telemetry-event.js';

describe('sessionDuration', () => {
  it.each(vectors.cases)('writes $name as the service expects it', ({ input, expected }) => {
    expect(sessionDuration(input.seconds * 1_000)).toBe(expected);
  });

  it('writes zero for a clock that was set back', () => {
    expect(sessionDuration(-5)).toBe('0:00:00');
  });
});
