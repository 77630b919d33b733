import { describe, expect, it } from 'vitest';
import { MetricTable } from './metric-table.js';
import { reducePoints } from './reduce-points.js';
import { Series } from './series.js';

function filled(count: number, value = (step: number) => step, maxPoints?: number): Series {
  const series = new Series(maxPoints);
  for (let step = 0; step < count; step += 1) series.add(step, value(step));
  return series;
}

describe('a series', () => {
  it('grows, and leaves out what a chart cannot show', () => {
    const series = filled(1_000);
    series.add(1_000, Number.NaN);
    series.add(1_001, Number.POSITIVE_INFINITY);
    series.add(1_002, 7);
    expect([series.length, series.last, series.steps.at(-1)]).toEqual([1_001, 7, 1_002]);
  });

  it('replaces the steps that a resumed run repeats', () => {
    const series = filled(10);
    series.add(5, 50);
    expect(Array.from(series.steps)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(series.last).toBe(50);
  });

  it('keeps every second of the older points beyond its limit', () => {
    const series = filled(250, undefined, 100);
    expect(series.length).toBeLessThanOrEqual(100);
    expect([series.steps[0], series.last]).toEqual([0, 249]);
    expect(Array.from(series.steps)).toEqual(Array.from(series.steps).sort((a, b) => a - b));
  });
});

describe('reducePoints', () => {
  it('keeps all points while they are few', () => {
    expect(Array.from(reducePoints(filled(5), 10).steps)).toEqual([0, 1, 2, 3, 4]);
  });

  it('never loses a spike', () => {
    const series = filled(100_000, (step) => (step === 77_777 ? 9 : step === 33_333 ? -9 : 0));
    const { steps, values } = reducePoints(series, 1_000);
    expect(steps.length).toBeLessThanOrEqual(1_000);
    expect([Math.max(...values), Math.min(...values)]).toEqual([9, -9]);
    expect(steps[values.indexOf(9)]).toBe(77_777);
    expect(Array.from(steps)).toEqual(Array.from(steps).sort((a, b) => a - b));
  });

  it('takes a range of steps, ends included', () => {
    expect(Array.from(reducePoints(filled(100), 10, 20, 23).steps)).toEqual([20, 21, 22, 23]);
    expect(reducePoints(filled(100), 10, 200, 300).steps.length).toBe(0);
  });
});

describe('a table of metrics', () => {
  it('takes a record without a step as the next one, and only numbers', () => {
    const table = new MetricTable();
    table.add({ step: 4, loss: 2, note: 'x' });
    table.add({ loss: 1, empty: null });
    expect([table.steps, table.names, Array.from(table.get('loss')?.steps ?? [])]).toEqual([6, ['loss'], [4, 5]]);
  });

  it.each([
    [{ 'time/total': 1, 'env/all/reward/total': 0.5, 'optim/lr': 1 }, 'env/all/reward/total'],
    [{ learning_rate: 1, train_mean_nll: 2, 'loss:sum': 9 }, 'train_mean_nll'],
    [{ 'dpo/loss': 2, accuracy: 1 }, 'dpo/loss'],
    [{ steps: 1 }, undefined],
  ])('says in a list what matters most in %j', (record, metric) => {
    const table = new MetricTable();
    table.add({ step: 0, ...record });
    expect(table.headline()?.metric).toBe(metric);
  });
});
