import { describe, expect, it } from 'vitest';
import type { Span } from '../../api/activity-views.js';
import { idleGaps, sequentialShare } from './idle-gaps.js';
import { layOut } from './lanes.js';

const span = (type: string, startMs: number, endMs: number): Span => ({
  lane: type === 'OptimStep' ? 'optimizer' : 'passes',
  type,
  startMs,
  endMs,
});

describe('the gaps of a timeline', () => {
  it('are the times in which nothing was in flight', () => {
    const spans = [span('ForwardBackward', 0, 100), span('OptimStep', 50, 200), span('ForwardBackward', 300, 400)];
    expect(idleGaps(spans)).toEqual({ gaps: [{ startMs: 200, endMs: 300 }], share: 0.25 });
  });

  it('do not count the moment that a program needs between two calls', () => {
    expect(idleGaps([span('ForwardBackward', 0, 100), span('ForwardBackward', 105, 200)]).gaps).toEqual([]);
    expect(idleGaps([])).toEqual({ gaps: [], share: 0 });
  });
});

describe('sequential calls', () => {
  it('are steps that were sent after their pass had come back', () => {
    const awaited = [
      span('ForwardBackward', 0, 100),
      span('OptimStep', 101, 150),
      span('ForwardBackward', 151, 250),
      span('OptimStep', 251, 300),
    ];
    const pipelined = [
      span('ForwardBackward', 0, 100),
      span('OptimStep', 1, 150),
      span('ForwardBackward', 151, 250),
      span('OptimStep', 152, 300),
    ];
    expect(sequentialShare(awaited)).toBe(1);
    expect(sequentialShare(pipelined)).toBe(0);
    expect(sequentialShare([])).toBe(0);
  });
});

describe('lanes', () => {
  it('lay overlapping spans below each other, and no more rows than fit', () => {
    const rows = layOut([span('ForwardBackward', 0, 10), span('ForwardBackward', 5, 15), span('ForwardBackward', 12, 20)]);
    expect(rows.map(({ spans }) => spans.length)).toEqual([2, 1]);
    expect(layOut(Array.from({ length: 50 }, () => span('ForwardBackward', 0, 10)))).toHaveLength(6);
  });
});
