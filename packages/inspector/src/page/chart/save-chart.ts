import { formatNumber } from '../format/format.js';
import { cssValue } from './colors.js';
import type { Line } from './line-chart.js';

const WIDTH = 720;
const HEIGHT = 320;
const LEFT = 60;
const BOTTOM = 32;
const TOP = 36;

/** Saves the chart inside an element as it is on the screen. */
export function savePng(place: HTMLElement | null, name: string): void {
  const canvas = place?.querySelector('canvas');
  if (!canvas) return;
  const picture = document.createElement('canvas');
  picture.width = canvas.width;
  picture.height = canvas.height;
  const context = picture.getContext('2d');
  if (context === null) return;
  context.fillStyle = cssValue('--surface');
  context.fillRect(0, 0, picture.width, picture.height);
  context.drawImage(canvas, 0, 0);
  picture.toBlob((blob) => blob !== null && save(blob, `${fileName(name)}.png`));
}

/** Saves the lines as a drawing that stays sharp at any size. */
export function saveSvg(name: string, lines: readonly Line[], isLog: boolean): void {
  save(new Blob([svgOf(name, lines, isLog)], { type: 'image/svg+xml' }), `${fileName(name)}.svg`);
}

function svgOf(name: string, lines: readonly Line[], isLog: boolean): string {
  const scale = (value: number): number => (isLog ? Math.log10(Math.max(value, Number.MIN_VALUE)) : value);
  const steps = extent(lines.flatMap(({ points }) => [points.steps.at(0) ?? 0, points.steps.at(-1) ?? 1]));
  const values = extent(lines.flatMap(({ points }) => Array.from(points.values, scale)));
  const x = (step: number): number => LEFT + ((step - steps[0]) / (steps[1] - steps[0] || 1)) * (WIDTH - LEFT - 20);
  const y = (value: number): number => TOP + (1 - (scale(value) - values[0]) / (values[1] - values[0] || 1)) * (HEIGHT - TOP - BOTTOM);
  const paths = lines.map(({ color, points }) => {
    const places = Array.from(points.steps, (step, index) => `${x(step).toFixed(1)} ${y(points.values[index] ?? 0).toFixed(1)}`);
    return places.length === 0 ? '' : `<path d="M${places.join('L')}" fill="none" stroke="${color}" stroke-width="1.8"/>`;
  });
  const marks = [0, 0.5, 1].map((part) => {
    const value = values[0] + part * (values[1] - values[0]);
    const height = TOP + (1 - part) * (HEIGHT - TOP - BOTTOM);
    return `<line x1="${LEFT}" x2="${WIDTH - 20}" y1="${height}" y2="${height}" stroke="#8884"/><text x="${LEFT - 8}" y="${height + 4}" text-anchor="end">${formatNumber(isLog ? 10 ** value : value)}</text>`;
  });
  const bottom = [steps[0], steps[1]].map(
    (step, index) => `<text x="${x(step)}" y="${HEIGHT - 10}" text-anchor="${index === 0 ? 'start' : 'end'}">${step}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" fill="#778"><text x="${LEFT}" y="20" font-size="14">${escaped(name)}</text>${[...marks, ...bottom, ...paths].join('')}</svg>\n`;
}

function extent(values: readonly number[]): [number, number] {
  return values.reduce<[number, number]>(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function fileName(name: string): string {
  return name.replace(/[^\w.-]+/g, '-');
}

/** Gives the browser a file to save. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
