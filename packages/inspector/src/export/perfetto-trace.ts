import type { Lane, Span } from '../api/activity-views.js';

const LANES: readonly Lane[] = ['sampling', 'passes', 'optimizer', 'checkpoints', 'other'];

/** Spans as trace events, which ui.perfetto.dev and `chrome://tracing` open: one thread per lane, times in microseconds. */
export function perfettoTrace(spans: readonly Span[]): object {
  const names = LANES.map((lane, index) => ({ name: 'thread_name', ph: 'M', pid: 1, tid: index + 1, args: { name: lane } }));
  const first = spans.reduce((earliest, { startMs }) => Math.min(earliest, startMs), Infinity);
  const events = spans.map(({ lane, type, startMs, endMs, id, tokens, error }) => ({
    name: type,
    cat: lane,
    ph: 'X',
    ts: Math.round((startMs - first) * 1_000),
    dur: Math.round((endMs - startMs) * 1_000),
    pid: 1,
    tid: LANES.indexOf(lane) + 1,
    args: { id, tokens, error },
  }));
  return { displayTimeUnit: 'ms', traceEvents: [...names, ...events] };
}
