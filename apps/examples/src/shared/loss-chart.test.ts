import { describe, expect, it } from 'vitest';
import { barChart, lossCurveSvg } from './loss-chart.js';

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

describe('lossCurveSvg', () => {
  it('has one point per value, the largest at the top', () => {
    const points = /points="([^"]+)"/.exec(lossCurveSvg('loss', [2, 1, 0]))?.[1]?.split(' ');
    expect(points).toEqual(['48.0,48.0', '320.0,160.0', '592.0,272.0']);
  });
});
