import { describe, expect, it } from 'vitest';
import { growth } from './flatness.js';
import type { Measurement } from './measure.js';

const series = (heap: (index: number) => number): Measurement[] =>
  Array.from({ length: 40 }, (_, index) => ({ seconds: index, heapMegabytes: heap(index), sockets: 400, timers: 1_000, handles: 1_400 }));

describe('growth', () => {
  it('says nothing about a flat run, whatever the warm-up did', () => {
    expect(growth(series((index) => (index < 10 ? 20 + index * 5 : 70 + (index % 3))))).toEqual([]);
  });

  it('names what grew', () => {
    expect(growth(series((index) => 50 + index * 2))).toEqual([expect.stringMatching(/^heapMegabytes grew from 88\.0 to 128\.0/)]);
  });

  it('does not judge a run that is too short', () => {
    expect(growth(series(() => 50).slice(0, 5))).toEqual(['only 5 measurements: too few to judge']);
  });
});
