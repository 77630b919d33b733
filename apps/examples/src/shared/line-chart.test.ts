import { describe, expect, it } from 'vitest';
import { lineChartSvg, seriesOf } from './line-chart.js';

const linesOf = (svg: string): string[] => [...svg.matchAll(/<polyline[^>]* points="([^"]*)"/g)].map((match) => match[1] ?? '');
const labelsOf = (svg: string): string[] => [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map((match) => match[1] ?? '');

describe('lineChartSvg', () => {
  it('places one point per value, over ticks at round numbers', () => {
    const svg = lineChartSvg({ title: 'loss', series: [seriesOf('train', [4, 2, 0])] });
    expect(linesOf(svg)).toEqual(['64,56 380,182 696,308']);
    expect(labelsOf(svg)).toEqual(expect.arrayContaining(['loss', 'train', '0', '1', '2', '3', '4', 'step']));
  });

  it('takes a logarithmic scale for values that fall a hundredfold, with a tick for each power of ten', () => {
    const svg = lineChartSvg({ title: 'loss', series: [seriesOf('train', [10, 1, 0.1])] });
    expect(linesOf(svg)).toEqual(['64,56 380,182 696,308']);
    expect(labelsOf(svg)).toEqual(expect.arrayContaining(['0.1', '1', '10', 'loss (logarithmic)']));
    expect(linesOf(lineChartSvg({ title: 'loss', series: [seriesOf('train', [10, 1, 0.1])], scale: 'linear' }))).not.toEqual(linesOf(svg));
  });

  it('draws training and validation over the same steps, each with a name and a color', () => {
    const validation = { name: 'validation', points: [{ step: 2, value: 3 }] };
    const svg = lineChartSvg({ title: 'loss', series: [seriesOf('train', [4, 2, 1]), validation] });
    expect(linesOf(svg)).toHaveLength(2);
    expect(linesOf(svg)[1]).toMatch(/^380,/);
    expect(labelsOf(svg)).toContain('validation');
    expect(svg).toContain('prefers-color-scheme: dark');
  });

  it('draws what it can: one value, no value, values that are not finite, a title with markup', () => {
    for (const values of [[1], [], [Number.NaN, 2, Number.POSITIVE_INFINITY], [0, 0]]) {
      const svg = lineChartSvg({ title: 'a < b & "c"', series: [seriesOf('train', values)] });
      expect(svg).not.toMatch(/NaN|Infinity/);
      expect(svg).toContain('a &lt; b &amp; &quot;c&quot;');
    }
  });
});
