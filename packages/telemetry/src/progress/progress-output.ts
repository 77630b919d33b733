import { ansiPaint, plainPaint, progressLine } from './progress-line.js';
import type { ProgressReading } from './progress-state.js';

/** Where progress is written: `process.stdout`, `process.stderr`, or anything with a `write`. */
export interface ProgressStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  /** Nothing is written while this is true: the reader cannot keep up. */
  readonly writableNeedDrain?: boolean | undefined;
  /** Nothing is written to a destroyed stream. */
  readonly destroyed?: boolean | undefined;
}

/** Writes readings to a stream. */
export interface ProgressOutput {
  show(reading: ProgressReading): void;
  /** Writes the last reading and ends its line. */
  finish(reading: ProgressReading): void;
}

const CLEAR_LINE = '\r\u001b[2K';

/** One line that is rewritten in place, for terminals. */
export function terminalOutput(stream: ProgressStream, hasColors: boolean): ProgressOutput {
  const paint = hasColors ? ansiPaint : plainPaint;
  const line = (reading: ProgressReading) => `${CLEAR_LINE}${progressLine(reading, paint, (stream.columns ?? 120) - 1)}`;
  return {
    show: (reading) => write(stream, line(reading)),
    finish: (reading) => write(stream, `${line(reading)}\n`),
  };
}

/** One line per reading, without escape sequences, for files and build logs. */
export function plainOutput(stream: ProgressStream): ProgressOutput {
  let last = '';
  const show = (reading: ProgressReading): void => {
    const line = progressLine(reading, plainPaint);
    if (line === last) return;
    last = line;
    write(stream, `${line}\n`);
  };
  return { show, finish: show };
}

function write(stream: ProgressStream, text: string): void {
  // An old progress line is worthless: skipping it bounds the memory that a blocked reader can cost.
  if (stream.destroyed !== true && stream.writableNeedDrain !== true) stream.write(text);
}
