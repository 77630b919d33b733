import { describe, expect, it } from 'vitest';
import { barChart } from './bar-chart.js';

describe('barChart', () => {
  it('draws bars from zero to the largest value', () => {
    expect(barChart([4, 2, 1], { width: 10, height: 2 })).toEqual(['   4.00 │█  ', '      0 │██▄']);
  });

  it('shows a value that is not zero, however small, and nothing for zero', () => {
    expect(barChart([1000, 1, 0], { width: 10, height: 1 })[0]).toMatch(/│█▁ $/);
  });

  it('takes means when there are more values than columns', () => {
    const [line = ''] = barChart([8, 8, 4, 4], { width: 2, height: 1 });
    expect(line.split('│')[1]).toBe('█▄');
  });
});
