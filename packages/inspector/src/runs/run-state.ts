import type { RunState } from '../api/run-views.js';

/** What is known about a run's life. */
export interface SignsOfLife {
  readonly steps: number;
  readonly totalSteps?: number | undefined;
  /** Whether the run has said that it is complete. */
  readonly isFinal: boolean;
  readonly updatedAtMs?: number | undefined;
  /** How long a step takes, if known. */
  readonly stepMs?: number | undefined;
  readonly nowMs: number;
}

/** A run that writes nothing for so long is not running any more, unless its steps take longer. */
const SILENCE_MS = 60_000;

/** Whether a run is running, has finished, or has stopped before its end: crashed, killed or interrupted. */
export function runState({ steps, totalSteps, isFinal, updatedAtMs, stepMs = 0, nowMs }: SignsOfLife): RunState {
  if (updatedAtMs === undefined) return 'empty';
  if (isFinal || (totalSteps !== undefined && steps >= totalSteps)) return 'finished';
  return nowMs - updatedAtMs <= Math.max(SILENCE_MS, 3 * stepMs) ? 'running' : 'stopped';
}
