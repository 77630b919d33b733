import type { ProgressReading } from './progress-state.js';

type Color = 'bold' | 'green' | 'yellow' | 'red' | 'dim';
const COLOR_CODES: Readonly<Record<Color, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };

/** Colors a text, or returns it unchanged where colors are not wanted. */
export type Paint = (color: Color, text: string) => string;

/** Colors by escape sequences. */
export const ansiPaint: Paint = (color, text) => `\u001b[${COLOR_CODES[color]}m${text}\u001b[0m`;

/** No colors. */
export const plainPaint: Paint = (_color, text) => text;

/**
 * One line: step, loss, tokens/s, time left, elapsed time, queue state, retries. Unknown parts are left out, and so are the last parts if
 * the line would be longer than `maxLength` characters.
 */
export function progressLine(reading: ProgressReading, paint: Paint, maxLength = Number.POSITIVE_INFINITY): string {
  let length = 0;
  const shown: string[] = [];
  for (const { text, color } of progressParts(reading)) {
    length += text.length + (shown.length === 0 ? 0 : 2);
    if (length > maxLength && shown.length > 0) break;
    shown.push(color === undefined ? text : paint(color, text));
  }
  return shown.join('  ');
}

function progressParts(reading: ProgressReading): { readonly text: string; readonly color?: Color | undefined }[] {
  const { step, totalSteps, loss, tokensPerSecond, etaMs, elapsedMs, queueState, samples, retries, restarts, failures } = reading;
  const parts: { text: string; color?: Color | undefined }[] = [];
  const add = (text: string, color?: Color): void => void parts.push({ text, color });
  add(totalSteps === undefined ? `step ${step}` : `step ${step}/${totalSteps}`, 'bold');
  if (loss !== undefined) add(`loss ${lossText(loss)}`, 'green');
  if (tokensPerSecond !== undefined) add(`${rateText(tokensPerSecond)} tok/s`);
  if (etaMs !== undefined) add(`eta ${timeText(etaMs)}`);
  add(`elapsed ${timeText(elapsedMs)}`, 'dim');
  if (reading.isRateLimited) add('rate limited', 'yellow');
  if (queueState === 'active') add('queue active');
  else if (queueState !== undefined) add(`queue ${queueState} for ${timeText(reading.queueStateMs ?? 0)}`, 'yellow');
  if (samples > 0) add(`samples ${samples}`);
  if (retries > 0) add(`retries ${retries}`, 'yellow');
  if (restarts > 0) add(`restarts ${restarts}`, 'yellow');
  if (failures > 0) add(`failures ${failures}`, 'red');
  return parts;
}

function lossText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && size < 0.001) return value.toExponential(2);
  if (size < 100) return value.toFixed(4).replace(/0{1,3}$/, '');
  return Math.round(value).toLocaleString('en-US');
}

/** At most one decimal: `5.344` would look like thousands. */
function rateText(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 1 : 0 });
}

function timeText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  const minutesAndSeconds = `${twoDigits(Math.floor(seconds / 60) % 60)}:${twoDigits(seconds % 60)}`;
  return seconds >= 3_600 ? `${Math.floor(seconds / 3_600)}:${minutesAndSeconds}` : minutesAndSeconds;
}
