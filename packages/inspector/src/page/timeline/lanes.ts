import type { Lane, Span } from '../../api/activity-views.js';

/** A row of the drawing: spans that do not overlap. */
export interface Row {
  readonly lane: Lane;
  /** Whether it is the first row of its lane, which has the name. */
  readonly isFirst: boolean;
  readonly spans: readonly Span[];
}

const LANES: readonly Lane[] = ['sampling', 'passes', 'optimizer', 'checkpoints', 'other'];
const MAX_ROWS = 6;

/** Lays overlapping spans of a lane below each other; what is beyond the last row is drawn over it. */
export function layOut(spans: readonly Span[]): Row[] {
  return LANES.flatMap((lane) => {
    const rows: { endMs: number; spans: Span[] }[] = [];
    const ofLane = spans.filter((span) => span.lane === lane).sort((a, b) => a.startMs - b.startMs);
    for (const span of ofLane) {
      let row = rows.find(({ endMs }) => endMs <= span.startMs);
      if (row === undefined && rows.length >= MAX_ROWS) row = rows.at(-1);
      if (row === undefined) {
        row = { endMs: 0, spans: [] };
        rows.push(row);
      }
      row.spans.push(span);
      row.endMs = Math.max(row.endMs, span.endMs);
    }
    return rows.map((row, index) => ({ lane, isFirst: index === 0, spans: row.spans }));
  });
}
