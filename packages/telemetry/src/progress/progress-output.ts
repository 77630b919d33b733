import { ansiPaint, type Paint, plainPaint, progressLine } from './progress-line.js';
import type { ProgressReading } from './progress-state.js';

/** Where progress is written: `process.stdout`, `process.stderr`, or anything with a `write`. */
export interface ProgressStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  /** Writing is skipped while this is true: the reader is slower than we are. */
  readonly writableNeedDrain?: boolean | undefined;
  /** Nothing is written to a destroyed stream. */
  readonly destroyed?: boolean | undefined;
}

/** How readings become text on a stream. */
export interface ProgressOutput {
  show(reading: ProgressReading): void;
  /** The last reading, and the end of its line. */
  finish(reading: ProgressReading): void;
}

const clearLine = '\r\u001b[2K';

/** One line that is written over and over, for terminals. */
export function terminalOutput(stream: ProgressStream, hasColours: boolean): ProgressOutput {
  const paint: Paint = hasColours ? ansiPaint : plainPaint;
  const line = (reading: ProgressReading) => `${clearLine}${progressLine(reading, paint, (stream.columns ?? 120) - 1)}`;
  return {
    show: (reading) => write(stream, line(reading)),
    finish: (reading) => write(stream, `${line(reading)}\n`),
  };
}

/** A line for each reading, for files and build logs: no escape sequences at all. */
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
  // A progress line is worth nothing later: skipping it bounds the memory that a stuck reader can cost.
  if (stream.destroyed === true || stream.writableNeedDrain === true) return;
  stream.write(text);
}
