import type { LineLevel } from '../src/events/catalogue.js';
import type { LogSink } from '../src/logger/log-sink.js';

/** A line as a sink got it. */
export interface Line {
  readonly level: LineLevel;
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

/** A sink that keeps what it gets. */
export function collectingSink(): LogSink & { readonly lines: Line[] } {
  const lines: Line[] = [];
  const method = (level: LineLevel) => (message: string, fields: Record<string, unknown>) => {
    lines.push({ level, message, fields });
  };
  return { lines, debug: method('debug'), info: method('info'), warn: method('warn'), error: method('error') };
}
