/** One line of a chart. */
export interface Series {
  readonly name: string;
  readonly points: readonly { readonly step: number; readonly value: number }[];
}

/** What a chart shows. */
export interface LineChart {
  readonly title: string;
  readonly series: readonly Series[];
  /** Default: `log` if all values are positive and span more than a factor of 30, else `linear`. */
  readonly scale?: 'linear' | 'log' | undefined;
}

const SIZE = { width: 720, height: 360 };
const PLOT = { left: 64, right: 696, top: 56, bottom: 308 };
const LOG_FROM_FACTOR = 30;

/** Both color schemes in one file: a viewer with a dark theme gets dark colors. */
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #52525b }
  .title { font-size: 15px; font-weight: 600; fill: #18181b }
  .paper { fill: #ffffff } .grid { stroke: #e4e4e7 } .axis { stroke: #a1a1aa; fill: none }
  .line { fill: none; stroke-width: 2; stroke-linejoin: round }
  .s0 { stroke: #2563eb } .s1 { stroke: #d97706 } .s2 { stroke: #059669 } .s3 { stroke: #db2777 }
  @media (prefers-color-scheme: dark) {
    text { fill: #a1a1aa } .title { fill: #fafafa }
    .paper { fill: #18181b } .grid { stroke: #3f3f46 } .axis { stroke: #71717a }
    .s0 { stroke: #60a5fa } .s1 { stroke: #fbbf24 } .s2 { stroke: #34d399 } .s3 { stroke: #f472b6 }
  }`;

/** The values in call order as a series, the first one at step 1. */
export function seriesOf(name: string, values: readonly number[]): Series {
  return { name, points: values.map((value, index) => ({ step: index + 1, value })) };
}

/** Draws lines over steps as an SVG document, with axes, ticks, a legend and colors for light and dark. Values that are not finite are left out. */
export function lineChartSvg({ title, series, scale }: LineChart): string {
  const lines = series.map(({ name, points }) => ({ name, points: points.filter(({ value }) => Number.isFinite(value)) }));
  const values = lines.flatMap(({ points }) => points.map(({ value }) => value));
  const steps = lines.flatMap(({ points }) => points.map(({ step }) => step));
  const isLog = (scale ?? scaleFor(values)) === 'log' && values.every((value) => value > 0);
  const yTicks = isLog ? decades(values) : roundTicks(Math.min(0, ...values), Math.max(0, ...values), 5);
  const xTicks = roundTicks(Math.min(...steps, 1), Math.max(...steps, 2), 6).filter(Number.isInteger);
  const y = place(yTicks, PLOT.bottom, PLOT.top, isLog ? Math.log10 : Number);
  const x = place([Math.min(...steps, 1), Math.max(...steps, 2)], PLOT.left, PLOT.right, Number);
  const shownSteps = xTicks.filter((step) => x(step) >= PLOT.left && x(step) <= PLOT.right);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" role="img" aria-label="${escapeMarkup(title)}">`,
    `<style>${STYLE}\n</style>`,
    `<rect class="paper" width="${SIZE.width}" height="${SIZE.height}"/>`,
    text(PLOT.left, 28, 'start', isLog ? `${title} (logarithmic)` : title, 'title'),
    ...lines.map(({ name }, index) => legend(name, index, lines.length)),
    ...yTicks.map((tick) => `<path class="grid" d="M${PLOT.left} ${y(tick)}H${PLOT.right}"/>`),
    ...yTicks.map((tick) => text(PLOT.left - 8, y(tick) + 4, 'end', tickLabel(tick))),
    ...shownSteps.map((tick) => `<path class="axis" d="M${x(tick)} ${PLOT.bottom}v5"/>`),
    ...shownSteps.map((tick) => text(x(tick), PLOT.bottom + 20, 'middle', String(tick))),
    `<path class="axis" d="M${PLOT.left} ${PLOT.top}V${PLOT.bottom}H${PLOT.right}"/>`,
    text((PLOT.left + PLOT.right) / 2, SIZE.height - 12, 'middle', 'step'),
    ...lines.map(({ points }, index) => polyline(points, x, y, index)),
    '</svg>',
    '',
  ].join('\n');
}

function scaleFor(values: readonly number[]): 'linear' | 'log' {
  return Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > LOG_FROM_FACTOR ? 'log' : 'linear';
}

/** The powers of ten around the values. */
function decades(values: readonly number[]): number[] {
  const from = Math.floor(Math.log10(Math.min(...values)));
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values))));
  return Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
}

/** Ticks at multiples of 1, 2 or 5 times a power of ten, that enclose the range. */
function roundTicks(low: number, high: number, count: number): number[] {
  const rough = (high - low || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.floor(low / step);
  const last = Math.max(first + 1, Math.ceil(high / step));
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

/** Maps the range of the ticks onto a range of the picture. */
function place(ticks: readonly number[], from: number, to: number, transform: (value: number) => number): (value: number) => number {
  const low = transform(Math.min(...ticks));
  const high = transform(Math.max(...ticks));
  return (value) => Number((from + ((transform(value) - low) / (high - low)) * (to - from)).toFixed(1));
}

function polyline(points: Series['points'], x: (step: number) => number, y: (value: number) => number, index: number): string {
  return `<polyline class="line s${index % 4}" points="${points.map(({ step, value }) => `${x(step)},${y(value)}`).join(' ')}"/>`;
}

function legend(name: string, index: number, count: number): string {
  const left = PLOT.right - (count - index) * 110;
  return `<path class="line s${index % 4}" d="M${left} 24h22"/>${text(left + 28, 28, 'start', name)}`;
}

function text(x: number, y: number, anchor: string, content: string, style?: string): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}"${style === undefined ? '' : ` class="${style}"`}>${escapeMarkup(content)}</text>`;
}

function tickLabel(value: number): string {
  return value !== 0 && Math.abs(value) < 0.001 ? value.toExponential(0) : String(value);
}

function escapeMarkup(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
