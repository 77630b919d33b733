import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { isDark } from '../app/theme.js';
import type { Points } from '../data/page-source.js';
import { formatNumber } from '../format/format.js';
import { cssValue } from './colors.js';
import { smooth } from './smoothing.js';

/** One line of a chart. */
export interface Line {
  readonly name: string;
  readonly color: string;
  readonly points: Points;
}

/** What a {@link LineChart} shows. */
export interface LineChartProps {
  readonly label: string;
  readonly lines: readonly Line[];
  readonly isLog: boolean;
  /** From 0 to almost 1. */
  readonly smoothing: number;
  /** The steps to show; undefined for all. */
  readonly range: readonly [number, number] | undefined;
  readonly onZoom: (range: readonly [number, number] | undefined) => void;
  readonly height?: number | undefined;
}

const HEIGHT = 210;
/** Lines with fewer points show them. */
const MAX_DOTS = 25;
const FONT = '11px ui-sans-serif, system-ui, sans-serif';

/** A chart of lines over steps. Drag to zoom, double-click to see everything again; the cursor is the same in all charts. */
export function LineChart(props: LineChartProps) {
  const { label, lines, isLog, smoothing, height = HEIGHT } = props;
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  // A chart is made again when its shape changes, and only fed when its numbers do.
  const shape = JSON.stringify([
    lines.map(({ name, color }) => [name, color]),
    isLog,
    smoothing > 0,
    height,
    isDark.value,
    lines.map(hasDots),
  ]);

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const made = new uPlot(chartOptions(latest, element.clientWidth || 400, height), chartData(latest.current), element);
    chart.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
      chart.current = undefined;
    };
  }, [shape]);

  useEffect(() => {
    chart.current?.setData(chartData(latest.current));
  }, [lines, smoothing, props.range]);

  return <div ref={place} class="chart" role="img" aria-label={describe(label, lines)} />;
}

function hasDots({ points }: Line): boolean {
  return points.steps.length <= MAX_DOTS;
}

/** One column of steps and one of values per line; with smoothing, the raw values stay behind as a shadow. */
function chartData({ lines, smoothing }: LineChartProps): uPlot.AlignedData {
  const tables = lines.map(({ points: { steps, values } }): uPlot.AlignedData => {
    const raw = Array.from(values);
    return smoothing > 0 ? [Array.from(steps), raw, Array.from(smooth(values, smoothing))] : [Array.from(steps), raw];
  });
  const [only] = tables;
  if (only === undefined) return [[]];
  return tables.length === 1 ? only : uPlot.join(tables);
}

function chartOptions(latest: { readonly current: LineChartProps }, width: number, height: number): uPlot.Options {
  const { lines, isLog, smoothing } = latest.current;
  const axis = { stroke: cssValue('--muted'), font: FONT, grid: { stroke: cssValue('--grid'), width: 1 }, ticks: { show: false } };
  return {
    width,
    height,
    legend: { show: false },
    padding: [10, 12, 0, 0],
    cursor: { sync: { key: 'steps' }, drag: { x: true, y: false, setScale: false }, points: { size: 7 } },
    scales: {
      x: { time: false, range: (_chart, min, max) => xRange(latest.current.range, min, max) },
      y: { distr: isLog ? 3 : 1 },
    },
    axes: [
      { ...axis, size: 28, values: (_chart, steps) => steps.map((step) => (Number.isInteger(step) ? step.toLocaleString('en-US') : '')) },
      { ...axis, size: 54, values: (_chart, values) => values.map((value) => (value === null ? '' : formatNumber(value))) },
    ],
    series: [{}, ...lines.flatMap((line) => seriesOf(line, smoothing > 0, lines.length === 1))],
    hooks: {
      setSelect: [
        (chart) => {
          const { left, width: dragged } = chart.select;
          if (dragged < 4) return;
          latest.current.onZoom([chart.posToVal(left, 'x'), chart.posToVal(left + dragged, 'x')]);
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
      setCursor: [(chart) => showValues(chart, latest.current.lines, smoothing > 0)],
      ready: [(chart) => chart.over.addEventListener('dblclick', () => latest.current.onZoom(undefined))],
    },
  };
}

function xRange(range: readonly [number, number] | undefined, min: number | null, max: number | null): uPlot.Range.MinMax {
  if (range !== undefined) return [range[0], range[1]];
  const first = min ?? 0;
  const last = max ?? 1;
  return first === last ? [first - 1, last + 1] : [first, last];
}

function seriesOf(line: Line, isSmoothed: boolean, isAlone: boolean): uPlot.Series[] {
  const common = { label: line.name, spanGaps: true, points: { show: hasDots(line) && !isSmoothed, size: 5, fill: line.color } };
  if (isSmoothed)
    return [
      { ...common, stroke: `${line.color}44`, width: 1 },
      { ...common, stroke: line.color, width: 2 },
    ];
  const shade = isAlone ? { fill: `${line.color}14` } : {};
  return [{ ...common, ...shade, stroke: line.color, width: 1.75 }];
}

/** Writes the values under the cursor into the legend of the card. */
function showValues(chart: uPlot, lines: readonly Line[], isSmoothed: boolean): void {
  const legend = chart.root.closest('.chart-card')?.querySelector('[data-cursor]');
  if (!(legend instanceof HTMLElement)) return;
  const { idx } = chart.cursor;
  const step = idx === null || idx === undefined ? undefined : chart.data[0][idx];
  if (idx === null || idx === undefined || step === undefined) {
    legend.textContent = '';
    return;
  }
  const perLine = isSmoothed ? 2 : 1;
  const values = lines.map((_, index) => chart.data[1 + index * perLine + (perLine - 1)]?.[idx]);
  const texts = values.map((value) => (value === null || value === undefined ? '–' : formatNumber(value)));
  legend.textContent = `step ${step.toLocaleString('en-US')}: ${texts.join(' · ')}`;
}

/** The chart in words. */
function describe(label: string, lines: readonly Line[]): string {
  const parts = lines.map(({ name, points: { steps, values } }) =>
    values.length === 0
      ? `${name}: no values yet`
      : `${name}: ${formatNumber(values[0] ?? 0)} at step ${steps[0] ?? 0} to ${formatNumber(values.at(-1) ?? 0)} at step ${steps.at(-1) ?? 0}`,
  );
  return `${label}. ${parts.join('; ')}`;
}
