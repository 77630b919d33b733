/** Characters of one color. */
export interface Span {
  readonly text: string;
  /** One of the 16 colors of a terminal; undefined for the default. */
  readonly color?: number | undefined;
  readonly isBold: boolean;
}

/** What the screen shows from a time on, one list of spans per line. */
export interface Frame {
  readonly atMs: number;
  readonly lines: readonly (readonly Span[])[];
}

const CELL = { width: 8.4, height: 19 };
const MARGIN = 20;
const BAR = 34;
/** How long the last frame stays before the recording starts again. */
const REST_MS = 6_000;

const COLORS = ['#71717a', '#f87171', '#4ade80', '#fbbf24', '#60a5fa', '#f472b6', '#22d3ee', '#e4e4e7'];

/**
 * Draws a recording as an animated SVG document, which a README can show. It plays without a script; readers who ask for less motion see the last frame.
 */
export function terminalSvg(frames: readonly Frame[], { title, columns }: { readonly title: string; readonly columns: number }): string {
  const rows = Math.max(...frames.map(({ lines }) => lines.length));
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
  const height = rows * CELL.height + BAR + MARGIN;
  const totalMs = (frames.at(-1)?.atMs ?? 0) + REST_MS;
  const shown = frames.map((frame, index) => {
    const isLast = index === frames.length - 1;
    const percent = (ms: number): string => `${((ms / totalMs) * 100).toFixed(2)}%`;
    const from = percent(frame.atMs);
    const to = isLast ? '100%' : percent(frames[index + 1]?.atMs ?? totalMs);
    return {
      rule: `@keyframes f${index}{0%{opacity:0}${from}{opacity:1}${to}{opacity:${isLast ? 1 : 0}}}.f${index}{animation:f${index} ${totalMs}ms step-end infinite}`,
      group: `<g class="f f${index}${isLast ? ' last' : ''}">${frame.lines.map(drawLine).join('')}</g>`,
    };
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeMarkup(title)}">`,
    '<style>',
    'text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#e4e4e7;white-space:pre}.b{font-weight:700}.f{opacity:0}',
    ...shown.map(({ rule }) => rule),
    '@media (prefers-reduced-motion:reduce){.f{animation:none!important}.last{opacity:1}}',
    '</style>',
    `<rect width="${width}" height="${height}" rx="10" fill="#18181b"/>`,
    ...['#f87171', '#fbbf24', '#4ade80'].map((fill, index) => `<circle cx="${MARGIN + index * 18}" cy="17" r="5.5" fill="${fill}"/>`),
    `<text x="${width / 2}" y="22" text-anchor="middle" style="fill:#a1a1aa">${escapeMarkup(title)}</text>`,
    ...shown.map(({ group }) => group),
    '</svg>',
    '',
  ].join('\n');
}

/** What the last frame of a drawn recording says, line by line. */
export function textOfLastFrame(svg: string): string {
  const last = /<g class="f f\d+ last">(.*?)<\/g>/.exec(svg)?.[1] ?? '';
  const texts = [...last.matchAll(/<text x="[^"]*" y="([^"]*)"[^>]*>([^<]*)<\/text>/g)];
  const rows = new Map<string, string>();
  for (const [, y = '', text = ''] of texts) rows.set(y, (rows.get(y) ?? '') + text);
  return [...rows.values()].join('\n');
}

/** Keeps at most `count` frames, evenly over time, and always the last one. */
export function thinFrames(frames: readonly Frame[], count: number): readonly Frame[] {
  const last = frames.at(-1);
  if (last === undefined || frames.length <= count) return frames;
  const every = last.atMs / (count - 1);
  const kept = new Map(frames.map((frame) => [Math.floor(frame.atMs / every), frame]));
  return [...new Set([...kept.values(), last])];
}

function drawLine(spans: readonly Span[], row: number): string {
  const y = BAR + (row + 0.8) * CELL.height;
  let column = 0;
  return spans
    .map(({ text, color, isBold }) => {
      const x = (MARGIN + column * CELL.width).toFixed(1);
      column += text.length;
      if (text.trim() === '') return '';
      const style = color === undefined ? '' : ` style="fill:${COLORS[color % 8]}"`;
      return `<text x="${x}" y="${y.toFixed(1)}"${isBold ? ' class="b"' : ''}${style}>${escapeMarkup(text)}</text>`;
    })
    .join('');
}

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
