import type { BenchmarkResult, Outcome } from '../measure/run-benchmark.js';
import { goalText, isRatio, short } from './table.js';

const WIDTH = 1_100;
const LABEL_WIDTH = 570;
const BAR_WIDTH = 360;
const ROW_HEIGHT = 22;
const TOP = 56;
/** The axis is logarithmic, from 0.01x to 100x. */
const DECADES = 2;

/** Draws every ratio that has a goal: median, interquartile range, and the goal as a tick. */
export function chart(results: readonly BenchmarkResult[], subtitle: string): string {
  const rows = results.flatMap((result) =>
    result.outcomes.filter(isDrawn).map((outcome) => ({ label: labelOf(outcome, result), outcome })),
  );
  const height = TOP + rows.length * ROW_HEIGHT + 24;
  const lines = rows.map(({ label, outcome }, index) => drawRow(label, outcome, TOP + index * ROW_HEIGHT));
  const ticks = [0.01, 0.1, 1, 10, 100].map((value) => {
    const x = place(value);
    return `<line x1="${x}" y1="${TOP - 8}" x2="${x}" y2="${height - 24}" stroke="#ccc"/><text x="${x}" y="${height - 8}" text-anchor="middle">${value}x</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    `<text x="12" y="22" font-size="15" font-weight="bold">Tinkex against limits and peers, as ratios</text>`,
    `<text x="12" y="40" fill="#555">${escaped(subtitle)}</text>`,
    ...ticks,
    ...lines,
    '</svg>\n',
  ].join('\n');
}

function isDrawn(outcome: Outcome): boolean {
  return isRatio(outcome) && outcome.goal !== undefined && Number.isFinite(outcome.value.median);
}

function labelOf({ metric, of, against }: Outcome, { id, names }: BenchmarkResult): string {
  return `${id}: ${metric}, ${names[of]}${against === undefined ? '' : ` / ${names[against]}`}`;
}

function drawRow(label: string, outcome: Outcome, y: number): string {
  const { value, goal, isMet } = outcome;
  const color = isMet ? '#2a7f4f' : '#c0392b';
  const bound = goal === undefined ? 1 : 'atMost' in goal ? goal.atMost : goal.atLeast;
  const [low, middle, high, tick] = [value.low, value.median, value.high, bound].map(place) as [number, number, number, number];
  return [
    `<text x="12" y="${y + 14}">${escaped(label)}</text>`,
    `<line x1="${low}" y1="${y + 10}" x2="${high}" y2="${y + 10}" stroke="${color}" stroke-width="4" stroke-opacity="0.4"/>`,
    `<circle cx="${middle}" cy="${y + 10}" r="5" fill="${color}"/>`,
    `<line x1="${tick}" y1="${y + 2}" x2="${tick}" y2="${y + 18}" stroke="#333" stroke-width="2"/>`,
    `<text x="${LABEL_WIDTH + BAR_WIDTH + 24}" y="${y + 14}" fill="${color}">${short(value.median)}x (${escaped(goalText(outcome))})</text>`,
  ].join('');
}

function place(value: number): number {
  const power = Math.max(-DECADES, Math.min(DECADES, Math.log10(value)));
  return Math.round(LABEL_WIDTH + ((power + DECADES) / (2 * DECADES)) * BAR_WIDTH);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
