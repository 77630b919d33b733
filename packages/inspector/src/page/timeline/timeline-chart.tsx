import { useEffect, useRef, useState } from 'preact/hooks';
import type { Lane, Span } from '../../api/activity-views.js';
import { isDark } from '../app/theme.js';
import { cssValue } from '../chart/colors.js';
import { formatDuration } from '../format/format.js';
import type { IdleGap } from './idle-gaps.js';
import { layOut, type Row } from './lanes.js';

const ROW = 20;
const TOP = 26;
const LEFT = 104;
const COLORS: Readonly<Record<Lane, string>> = {
  sampling: '--series-5',
  passes: '--series-1',
  optimizer: '--series-3',
  checkpoints: '--series-6',
  other: '--series-8',
};

/** What a {@link TimelineChart} shows. */
interface TimelineChartProps {
  readonly spans: readonly Span[];
  readonly gaps: readonly IdleGap[];
  /** The times to show. */
  readonly window: readonly [number, number];
  readonly onWindow: (window: readonly [number, number]) => void;
}

/** Operations as bars over time, on one canvas, so that thousands of them stay smooth. Wheel or drag moves and zooms. */
export function TimelineChart({ spans, gaps, window: [from, to], onWindow }: TimelineChartProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [hovered, setHovered] = useState<{ readonly span: Span; readonly x: number; readonly y: number } | undefined>(undefined);
  const [width, setWidth] = useState(800);
  const rows = layOut(spans);
  const height = TOP + Math.max(1, rows.length) * ROW + 8;
  const perPixel = (to - from) / Math.max(1, width - LEFT);

  useEffect(() => {
    const element = canvas.current?.parentElement;
    if (!element) return;
    const resized = new ResizeObserver(() => setWidth(element.clientWidth));
    resized.observe(element);
    setWidth(element.clientWidth);
    return () => resized.disconnect();
  }, []);

  useEffect(() => {
    if (canvas.current !== null) draw(canvas.current, { rows, gaps, from, to, width, height });
  }, [spans, gaps, from, to, width, height, isDark.value]);

  const timeAt = (x: number): number => from + (x - LEFT) * perPixel;
  const find = (x: number, y: number): Span | undefined => {
    const at = timeAt(x);
    const slack = perPixel * 2;
    return rows[Math.floor((y - TOP) / ROW)]?.spans.findLast(({ startMs, endMs }) => startMs - slack <= at && at <= endMs + slack);
  };

  return (
    <div class="timeline-place">
      <canvas
        ref={canvas}
        class="timeline"
        style={{ width: `${width}px`, height: `${height}px` }}
        role="img"
        aria-label={`${spans.length} operations in ${formatDuration(to - from)}; ${gaps.length} gaps without any. The table below lists the slowest.`}
        onPointerMove={(event) => {
          if (event.buttons === 1) {
            const moved = -event.movementX * perPixel;
            onWindow([from + moved, to + moved]);
            return;
          }
          const span = find(event.offsetX, event.offsetY);
          setHovered(span === undefined ? undefined : { span, x: event.offsetX, y: event.offsetY });
        }}
        onPointerLeave={() => setHovered(undefined)}
        onWheel={(event) => {
          if (!event.ctrlKey && !event.shiftKey) return;
          event.preventDefault();
          const at = timeAt(event.offsetX);
          const factor = event.deltaY > 0 ? 1.25 : 0.8;
          onWindow([at - (at - from) * factor, at + (to - at) * factor]);
        }}
      />
      {hovered !== undefined && <Tip {...hovered} width={width} />}
    </div>
  );
}

function Tip({ span, x, y, width }: { readonly span: Span; readonly x: number; readonly y: number; readonly width: number }) {
  const { type, startMs, submittedMs, endMs, id, error } = span;
  const isRight = x > width / 2;
  return (
    <div class="tip" style={{ top: `${y + 14}px`, ...(isRight ? { right: `${width - x + 8}px` } : { left: `${x + 12}px` }) }}>
      <div class="strong">
        {type} · {formatDuration(endMs - startMs)}
      </div>
      {submittedMs !== undefined && (
        <div class="muted">
          accepted after {formatDuration(submittedMs - startMs)}, then {formatDuration(endMs - submittedMs)}
        </div>
      )}
      {error !== undefined && <div class="muted">failed: {error}</div>}
      {id !== undefined && <div class="mono muted">{id}</div>}
    </div>
  );
}

interface Drawing {
  readonly rows: readonly Row[];
  readonly gaps: readonly IdleGap[];
  readonly from: number;
  readonly to: number;
  readonly width: number;
  readonly height: number;
}

function draw(canvas: HTMLCanvasElement, { rows, gaps, from, to, width, height }: Drawing): void {
  const density = devicePixelRatio || 1;
  canvas.width = width * density;
  canvas.height = height * density;
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.scale(density, density);
  const scale = (width - LEFT) / Math.max(1e-9, to - from);
  const x = (atMs: number): number => LEFT + (atMs - from) * scale;
  drawGaps(context, gaps, x, height, width);
  drawTimes(context, { from, to, width, height, x });
  for (const [index, row] of rows.entries()) drawRow(context, row, TOP + index * ROW, x, width);
}

function drawGaps(
  context: CanvasRenderingContext2D,
  gaps: readonly IdleGap[],
  x: (atMs: number) => number,
  height: number,
  width: number,
): void {
  context.fillStyle = cssValue('--warn-soft');
  for (const { startMs, endMs } of gaps) {
    const left = Math.max(LEFT, x(startMs));
    const right = Math.min(width, x(endMs));
    if (right > left) context.fillRect(left, TOP - 4, Math.max(1, right - left), height - TOP);
  }
}

function drawTimes(
  context: CanvasRenderingContext2D,
  { from, to, width, height, x }: { from: number; to: number; width: number; height: number; x: (atMs: number) => number },
): void {
  context.font = '11px ui-sans-serif, system-ui, sans-serif';
  context.textBaseline = 'top';
  const step = niceStep((to - from) / Math.max(2, (width - LEFT) / 110));
  for (let at = Math.ceil(from / step) * step; at < to; at += step) {
    context.fillStyle = cssValue('--grid');
    context.fillRect(Math.round(x(at)), TOP - 6, 1, height);
    context.fillStyle = cssValue('--muted');
    const text = formatDuration(at);
    // A time that is cut off says something else.
    if (x(at) + 3 + context.measureText(text).width <= width) context.fillText(text, x(at) + 3, 4);
  }
}

function niceStep(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(wanted, 1e-3)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= wanted) ?? 10 * power;
}

function drawRow(
  context: CanvasRenderingContext2D,
  { lane, isFirst, spans }: Row,
  top: number,
  x: (atMs: number) => number,
  width: number,
): void {
  if (isFirst) {
    context.fillStyle = cssValue('--muted');
    context.textBaseline = 'middle';
    context.fillText(lane, 4, top + ROW / 2);
  }
  const color = cssValue(COLORS[lane]);
  for (const { startMs, submittedMs = startMs, runningMs = submittedMs, endMs, error } of spans) {
    if (x(endMs) < LEFT || x(startMs) > width) continue;
    // Sending is faint, waiting is lighter, running is solid.
    bar(context, x(startMs), x(endMs), top, error === undefined ? `${color}55` : cssValue('--bad'));
    bar(context, x(submittedMs), x(endMs), top, error === undefined ? `${color}99` : cssValue('--bad'));
    bar(context, x(runningMs), x(endMs), top, error === undefined ? color : cssValue('--bad'));
  }
}

function bar(context: CanvasRenderingContext2D, left: number, right: number, top: number, color: string): void {
  const start = Math.max(LEFT, left);
  context.fillStyle = color;
  context.beginPath();
  context.roundRect(start, top + 3, Math.max(1.5, right - start), ROW - 6, 3);
  context.fill();
}
