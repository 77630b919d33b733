import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ForwardBackwardOutput, TensorData } from '../index.js';
import { chunkData, combineForwardBackwardOutputs, reduceMetrics } from '../wire.js';

describe('chunkData', () => {
  it('keeps order, loses nothing, makes no empty chunk, and keeps to the limits', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 200 })),
        fc.integer({ min: 1, max: 6 }),
        fc.nat({ max: 300 }),
        (sizes, maxChunkLength, maxChunkBytes) => {
          const chunks = chunkData(sizes, { maxChunkLength, maxChunkBytes }, (size) => size);
          expect(chunks.flatMap((chunk) => chunk.data)).toEqual(sizes);
          for (const { data, estimatedBytes } of chunks) {
            expect(data.length).toBeGreaterThan(0);
            expect(data.length).toBeLessThanOrEqual(maxChunkLength);
            expect(estimatedBytes).toBe(data.reduce((sum, size) => sum + size, 0));
            if (data.length > 1) expect(estimatedBytes).toBeLessThanOrEqual(maxChunkBytes);
          }
        },
      ),
    );
  });

  it('refuses a limit that no chunk can keep to', () => {
    expect(() => chunkData([], { maxChunkLength: 0 })).toThrow(/maxChunkLength/);
  });
});

describe('reduceMetrics of servers that name no reduction', () => {
  it('averages by weight', () => {
    const chunks = [
      { metrics: { loss: 1, 'a:b:c': 2 }, weight: 1 },
      { metrics: { loss: 4, 'a:b:c': 2 }, weight: 3 },
    ];
    expect(reduceMetrics(chunks)).toEqual({ loss: 3.25, 'a:b:c': 2 });
  });

  it('averages without outputs, where the reference fails', () => {
    expect(
      reduceMetrics([
        { metrics: { 'loss:mean': 1, 't:slack': 1 }, weight: 0 },
        { metrics: { 'loss:mean': 2, 't:slack': 3 }, weight: 0 },
      ]),
    ).toEqual({
      'loss:mean': 1.5,
      't:slack': 1,
    });
  });

  it('takes a metric with the name of an object’s own', () => {
    const metrics = Object.fromEntries([
      ['__proto__:sum', 1],
      ['constructor:sum', 2],
    ]);
    expect(reduceMetrics([{ metrics, weight: 1 }])).toEqual(metrics);
    expect(
      reduceMetrics([
        { metrics, weight: 1 },
        { metrics: {}, weight: 1 },
      ]),
    ).toEqual({});
  });
});

describe('combineForwardBackwardOutputs', () => {
  const output = (values: number[], metrics: Record<string, number>): ForwardBackwardOutput => ({
    lossFnOutputType: 'T',
    lossFnOutputs: values.map((value) => ({ logprobs: TensorData.fromArray([value]) })),
    metrics,
  });

  it('puts outputs in order, shares the tensors, and weighs metrics by outputs', () => {
    const chunks = [output([1], { 'loss:mean': 1, 'grad:sum': 10 }), output([2, 3, 4], { 'loss:mean': 3, 'grad:sum': 20 })];
    const combined = combineForwardBackwardOutputs(chunks);
    expect(combined.metrics).toEqual({ 'loss:mean': 2.5, 'grad:sum': 30 });
    expect(combined.lossFnOutputs.map((entry) => entry.logprobs?.toNumbers()[0])).toEqual([1, 2, 3, 4]);
    expect(combined.lossFnOutputs[3]).toBe(chunks[1]?.lossFnOutputs[2]);
  });

  it('makes an empty result of nothing', () => {
    expect(combineForwardBackwardOutputs([])).toEqual({ lossFnOutputType: '', lossFnOutputs: [], metrics: {} });
  });

  it('takes thousands of chunks', () => {
    const chunks = Array.from({ length: 20_000 }, () => output([1], { 'a:max': 1, 'b:unique': 2 }));
    expect(combineForwardBackwardOutputs(chunks).lossFnOutputs).toHaveLength(20_000);
  });
});
