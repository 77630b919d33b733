import { type Clock, publish } from '@tinkex/http';
import { type SessionEvent, TinkexError } from '@tinkex/types';
import type { Lifetime } from '../runtime/client-lifetime.js';

/** The protocol's pace. */
export const DEFAULT_HEARTBEAT_INTERVAL_MS = 10_000;
/** Without an answered beat for longer than this, the session may be lost, and somebody should know. */
export const HEARTBEAT_WARNING_AFTER_MS = 120_000;

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly lifetime: Lifetime;
  readonly intervalMs: number;
  /** Sends one beat. */
  readonly beat: () => Promise<unknown>;
  readonly event: () => SessionEvent;
  /** Told after every failed beat once the last answered one is more than 120 s ago. */
  readonly onSilence: (sinceLastSuccessMs: number) => void;
}

/**
 * Keeps a session alive: the first beat one interval after the start, each next one an interval after the last was over. A
 * failed beat changes nothing and is told (event `tinkex:session:heartbeat_missed`) only after 120 s of silence; the loop never gives up and ends only with the client. Its timer keeps no process alive.
 */
export function startHeartbeat({ clock, lifetime, intervalMs, beat, event, onSilence }: HeartbeatOptions): void {
  let lastSuccessAtMs = clock.now();
  let timer: unknown;
  const schedule = (): void => {
    if (!lifetime.isClosed) timer = clock.setTimeout(() => void run(), intervalMs);
  };
  const run = async (): Promise<void> => {
    const startedAtMs = clock.now();
    try {
      await beat();
      lastSuccessAtMs = clock.now();
      publish('tinkex:session:heartbeat', { ...event(), durationMs: lastSuccessAtMs - startedAtMs });
    } catch (error) {
      if (!lifetime.isClosed) missed(error);
    }
    schedule();
  };
  const missed = (error: unknown): void => {
    const sinceLastSuccessMs = clock.now() - lastSuccessAtMs;
    if (sinceLastSuccessMs <= HEARTBEAT_WARNING_AFTER_MS) return;
    const errorCode = TinkexError.isInstance(error) ? error.code : 'UNKNOWN';
    publish('tinkex:session:heartbeat_missed', { ...event(), errorCode, sinceLastSuccessMs });
    onSilence(sinceLastSuccessMs);
  };
  lifetime.onClose(() => clock.clearTimeout(timer));
  schedule();
}
