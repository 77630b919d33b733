import type { EventHandlers } from '../attach/attach.js';
import { safeText } from '../redaction/safe-text.js';
import type { Registry } from './registry.js';

/** Metrics of sessions and of the shared sampling backoff. */
export function sessionMetrics(registry: Registry): EventHandlers {
  const sessions = registry.counter('tinkex_sessions_total', 'Sessions opened and closed.');
  const active = registry.gauge('tinkex_sessions_active', 'Sessions opened and not yet closed.');
  const heartbeats = registry.counter('tinkex_session_heartbeats_total', 'Heartbeats, by outcome.');
  const backoffs = registry.counter('tinkex_rate_limit_backoffs_total', 'Times a 429 set or extended the shared backoff.');
  const isLimited = registry.gauge('tinkex_rate_limited', '1 while the shared backoff is set, else 0.');
  const waits = registry.seconds('tinkex_rate_limit_wait_seconds', 'Time sampling calls were held back.');
  // The limiter's id tells two keys of one server apart; it holds a hash, never the key.
  const limiter = (event: { readonly baseUrl: string; readonly limiterId: string }) => ({
    base_url: safeText(event.baseUrl),
    limiter: safeText(event.limiterId),
  });
  const opened = new Set<string>();
  return {
    'tinkex:session:start': ({ baseUrl, sessionId }) => {
      sessions.with({ base_url: safeText(baseUrl), kind: 'start' }).add(1);
      // Beyond this many open sessions the gauge stops counting up: a bound, not a limit anybody meets.
      if (opened.has(sessionId) || opened.size >= 10_000) return;
      opened.add(sessionId);
      active.with({ base_url: safeText(baseUrl) }).add(1);
    },
    'tinkex:session:end': ({ baseUrl, sessionId }) => {
      sessions.with({ base_url: safeText(baseUrl), kind: 'end' }).add(1);
      if (opened.delete(sessionId)) active.with({ base_url: safeText(baseUrl) }).add(-1);
    },
    'tinkex:session:heartbeat': ({ baseUrl }) => heartbeats.with({ base_url: safeText(baseUrl), outcome: 'answered' }).add(1),
    'tinkex:session:heartbeat_missed': ({ baseUrl }) => heartbeats.with({ base_url: safeText(baseUrl), outcome: 'missed' }).add(1),
    'tinkex:rate_limit:set': (event) => {
      backoffs.with({ base_url: safeText(event.baseUrl) }).add(1);
      isLimited.with(limiter(event)).set(1);
    },
    'tinkex:rate_limit:cleared': (event) => isLimited.with(limiter(event)).set(0),
    'tinkex:rate_limit:wait': (event) => waits.with({ base_url: safeText(event.baseUrl) }).record(event.delayMs / 1_000),
  };
}
