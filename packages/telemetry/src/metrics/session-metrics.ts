import type { EventHandlers } from '../attach/attach.js';
import { safeText } from '../redaction/safe-text.js';
import { BY_SERVER } from './labels.js';
import type { Registry } from './registry.js';

/** Metrics of sessions and of the shared sampling backoff. */
export function sessionMetrics(registry: Registry): EventHandlers {
  const sessions = registry.counter('tinkex_sessions_total', 'Sessions opened and closed.', [...BY_SERVER, 'kind']);
  const active = registry.gauge('tinkex_sessions_active', 'Sessions opened and not yet closed.', BY_SERVER);
  const heartbeats = registry.counter('tinkex_session_heartbeats_total', 'Heartbeats, by outcome.', [...BY_SERVER, 'outcome']);
  const backoffs = registry.counter('tinkex_rate_limit_backoffs_total', 'Times a 429 set or extended the shared backoff.', BY_SERVER);
  // The limiter's id tells two keys of one server apart; it holds a hash, never the key.
  const isLimited = registry.gauge('tinkex_rate_limited', '1 while the shared backoff is set, else 0.', [...BY_SERVER, 'limiter']);
  const waits = registry.seconds('tinkex_rate_limit_wait_seconds', 'Time sampling calls were held back.', BY_SERVER);
  const opened = new Set<string>();
  return {
    'tinkex:session:start': ({ baseUrl, sessionId }) => {
      sessions.with(safeText(baseUrl), 'start').add(1);
      // Beyond this many open sessions the gauge stops counting up: a bound, not a limit anybody meets.
      if (opened.has(sessionId) || opened.size >= 10_000) return;
      opened.add(sessionId);
      active.with(safeText(baseUrl)).add(1);
    },
    'tinkex:session:end': ({ baseUrl, sessionId }) => {
      sessions.with(safeText(baseUrl), 'end').add(1);
      if (opened.delete(sessionId)) active.with(safeText(baseUrl)).add(-1);
    },
    'tinkex:session:heartbeat': ({ baseUrl }) => heartbeats.with(safeText(baseUrl), 'answered').add(1),
    'tinkex:session:heartbeat_missed': ({ baseUrl }) => heartbeats.with(safeText(baseUrl), 'missed').add(1),
    'tinkex:rate_limit:set': ({ baseUrl, limiterId }) => {
      backoffs.with(safeText(baseUrl)).add(1);
      isLimited.with(safeText(baseUrl), safeText(limiterId)).set(1);
    },
    'tinkex:rate_limit:cleared': ({ baseUrl, limiterId }) => isLimited.with(safeText(baseUrl), safeText(limiterId)).set(0),
    'tinkex:rate_limit:wait': ({ baseUrl, delayMs }) => waits.with(safeText(baseUrl)).record(delayMs / 1_000),
  };
}
