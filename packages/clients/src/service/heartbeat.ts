import { betweenMs, elapsedMs, publish } from '@tinkex/http';
import { ApiStatusError, type SessionEvent, TinkexError } from '@tinkex/types';
import type { Runtime } from '../runtime/runtime.js';

/** The protocol's pace. */
export const DEFAULT_HEARTBEAT_INTERVAL_MS = 10_000;
/** Without an answered heartbeat for longer than this, the session may be lost. */
export const HEARTBEAT_WARNING_AFTER_MS = 120_000;

const FINISHED = 410;

export interface HeartbeatOptions extends Pick<Runtime, 'clock' | 'lifetime'> {
  readonly intervalMs: number;
  /** Sends one heartbeat. */
  readonly beat: () => Promise<unknown>;
  readonly event: () => SessionEvent;
  /** Called after every failed heartbeat once the last answered one is more than 120 s ago. */
  readonly onSilence: (sinceLastSuccessMs: number) => void;
  /** Called when the server answers that the session has finished (410). */
  readonly onFinished: () => void;
}

/**
 * Keeps a session alive: the first heartbeat follows one interval after the start, each next one an interval after the last has ended. A
 * failed heartbeat is published (event `tinkex:session:heartbeat_missed`) only after 120 s without an answer. The loop ends
 * with the client, or when the server answers that the session has finished (410). Its timer does not keep the process alive.
 */
export function startHeartbeat({ clock, lifetime, intervalMs, beat, event, onSilence, onFinished }: HeartbeatOptions): void {
  let lastSuccessAt = clock.monotonicMs();
  let timer: unknown;
  const schedule = (): void => {
    if (!lifetime.isClosed) timer = clock.setTimeout(() => void run(), intervalMs);
  };
  const run = async (): Promise<void> => {
    const startedAt = clock.monotonicMs();
    try {
      await beat();
      lastSuccessAt = clock.monotonicMs();
      publish('tinkex:session:heartbeat', { ...event(), durationMs: betweenMs(startedAt, lastSuccessAt) });
    } catch (error) {
      if (lifetime.isClosed) return;
      if (ApiStatusError.isInstance(error) && error.status === FINISHED) {
        onFinished();
        return;
      }
      missed(error);
    }
    schedule();
  };
  const missed = (error: unknown): void => {
    const sinceLastSuccessMs = elapsedMs(clock, lastSuccessAt);
    if (sinceLastSuccessMs <= HEARTBEAT_WARNING_AFTER_MS) return;
    const errorCode = TinkexError.isInstance(error) ? error.code : 'UNKNOWN';
    publish('tinkex:session:heartbeat_missed', { ...event(), errorCode, sinceLastSuccessMs });
    onSilence(sinceLastSuccessMs);
  };
  lifetime.onClose(() => clock.clearTimeout(timer));
  schedule();
}
