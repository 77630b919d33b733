import type { JsonRecord } from '@tinkex/telemetry/runs';
import type { Lane, Span } from '../api/activity-views.js';

/** Which row of the timeline a span of a training loop belongs to, by words in its name. */
const LANES: readonly (readonly [RegExp, Lane])[] = [
  [/sampl|rollout|policy|env_/, 'sampling'],
  [/checkpoint|save/, 'checkpoints'],
  [/optim/, 'optimizer'],
  [/train|step|batch|forward|kl/, 'passes'],
];

/**
 * The spans of `timing_spans.jsonl`, one step after the other. The file has the seconds since the beginning of each step, so the steps are put in a row, from 0.
 */
export function timingSpans(records: readonly JsonRecord[]): Span[] {
  const spans: Span[] = [];
  let offsetMs = 0;
  for (const { spans: found } of records) {
    const ofStep = (Array.isArray(found) ? found : []).flatMap((span) => spanOf(span, offsetMs));
    spans.push(...ofStep);
    offsetMs = ofStep.reduce((latest, { endMs }) => Math.max(latest, endMs), offsetMs);
  }
  return spans;
}

function spanOf(json: unknown, offsetMs: number): Span[] {
  const { name, wall_start: start, wall_end: end } = (json ?? {}) as JsonRecord;
  if (typeof name !== 'string' || typeof start !== 'number' || typeof end !== 'number') return [];
  return [{ lane: laneOf(name), type: name, startMs: offsetMs + start * 1_000, endMs: offsetMs + end * 1_000 }];
}

function laneOf(name: string): Lane {
  return LANES.find(([pattern]) => pattern.test(name))?.[1] ?? 'other';
}
