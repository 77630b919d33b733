import type { ProgressReading } from './progress-state.js';

type Colour = 'bold' | 'green' | 'yellow' | 'red' | 'dim';
const codes: Readonly<Record<Colour, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };

/** Paints a text, or leaves it alone where colours are not wanted. */
export type Paint = (colour: Colour, text: string) => string;

/** Colours by escape sequences. */
export const ansiPaint: Paint = (colour, text) => `\u001b[${codes[colour]}m${text}\u001b[0m`;

/** No colours. */
export const plainPaint: Paint = (_colour, text) => text;

/**
 * One line: step, loss, tokens/s, queue state, retries, time and time left. Parts that are not known are left out, and so are the last
 * parts when the line would be longer than `maxLength` characters.
 */
export function progressLine(reading: ProgressReading, paint: Paint, maxLength = Number.POSITIVE_INFINITY): string {
  const parts: { readonly text: string; readonly colour?: Colour }[] = [
    { text: `step ${reading.step}${reading.totalSteps === undefined ? '' : `/${reading.totalSteps}`}`, colour: 'bold' },
  ];
  if (reading.loss !== undefined) parts.push({ text: `loss ${shortNumber(reading.loss)}`, colour: 'green' });
  if (reading.tokensPerSecond !== undefined) parts.push({ text: `${rate(reading.tokensPerSecond)} tok/s` });
  if (reading.etaMs !== undefined) parts.push({ text: `eta ${clockTime(reading.etaMs)}` });
  parts.push({ text: `elapsed ${clockTime(reading.elapsedMs)}`, colour: 'dim' });
  if (reading.isRateLimited) parts.push({ text: 'rate limited', colour: 'yellow' });
  if (reading.queueState !== undefined) {
    parts.push({ text: `queue ${reading.queueState}`, ...(reading.queueState === 'active' ? {} : { colour: 'yellow' as const }) });
  }
  if (reading.samples > 0) parts.push({ text: `samples ${reading.samples}` });
  if (reading.retries > 0) parts.push({ text: `retries ${reading.retries}`, colour: 'yellow' });
  if (reading.restarts > 0) parts.push({ text: `restarts ${reading.restarts}`, colour: 'yellow' });
  if (reading.failures > 0) parts.push({ text: `failures ${reading.failures}`, colour: 'red' });

  let length = 0;
  const shown: string[] = [];
  for (const { text, colour } of parts) {
    length += text.length + (shown.length === 0 ? 0 : 2);
    if (length > maxLength && shown.length > 0) break;
    shown.push(colour === undefined ? text : paint(colour, text));
  }
  return shown.join('  ');
}

function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && size < 0.001) return value.toExponential(2);
  if (size < 100) return value.toFixed(4).replace(/0{1,3}$/, '');
  return Math.round(value).toLocaleString('en-US');
}

/** One digit behind the point at most: `5.344` would look like thousands. */
function rate(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 1 : 0 });
}

function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const two = (value: number) => String(value).padStart(2, '0');
  const minutesAndSeconds = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return seconds >= 3_600 ? `${Math.floor(seconds / 3_600)}:${minutesAndSeconds}` : minutesAndSeconds;
}
