import { type EventHandlers, recoveryHandlers } from '../events/event-handlers.js';
import { BY_SERVER, type Registry } from './registry.js';

/** A bound for servers that open sessions and never close them: beyond it, the gauge of active sessions stops counting up. */
const MAX_TRACKED_SESSIONS = 10_000;

/** Metrics of sessions, rate limits and recovery monitors. */
export function sessionMetrics(registry: Registry): EventHandlers {
  return { ...sessionLifeMetrics(registry), ...rateLimitMetrics(registry), ...recoveryMetrics(registry) };
}

function sessionLifeMetrics(registry: Registry): EventHandlers {
  const sessions = registry.counter('tinkex_sessions_total', 'Sessions opened and closed.', [...BY_SERVER, 'kind']);
  const active = registry.gauge('tinkex_sessions_active', 'Sessions opened and not yet closed.', BY_SERVER);
  const heartbeats = registry.counter('tinkex_session_heartbeats_total', 'Heartbeats, by outcome.', [...BY_SERVER, 'outcome']);
  const opened = new Set<string>();
  return {
    'tinkex:session:start': ({ baseUrl, sessionId }) => {
      sessions.with(baseUrl, 'start').add(1);
      if (opened.has(sessionId) || opened.size >= MAX_TRACKED_SESSIONS) return;
      opened.add(sessionId);
      active.with(baseUrl).add(1);
    },
    'tinkex:session:end': ({ baseUrl, sessionId }) => {
      sessions.with(baseUrl, 'end').add(1);
      if (opened.delete(sessionId)) active.with(baseUrl).add(-1);
    },
    'tinkex:session:heartbeat': ({ baseUrl }) => heartbeats.with(baseUrl, 'answered').add(1),
    'tinkex:session:heartbeat_missed': ({ baseUrl }) => heartbeats.with(baseUrl, 'missed').add(1),
  };
}

function rateLimitMetrics(registry: Registry): EventHandlers {
  const backoffs = registry.counter('tinkex_rate_limit_backoffs_total', 'Times a 429 set or extended the shared backoff.', BY_SERVER);
  // The ID of the limiter distinguishes two keys of one server. It contains a hash, never the key.
  const isLimited = registry.gauge('tinkex_rate_limited', '1 while the shared backoff is set, else 0.', [...BY_SERVER, 'limiter']);
  const waits = registry.seconds('tinkex_rate_limit_wait_seconds', 'Time sampling calls were held back.', BY_SERVER);
  return {
    'tinkex:rate_limit:set': ({ baseUrl, limiterId }) => {
      backoffs.with(baseUrl).add(1);
      isLimited.with(baseUrl, limiterId).set(1);
    },
    'tinkex:rate_limit:cleared': ({ baseUrl, limiterId }) => isLimited.with(baseUrl, limiterId).set(0),
    'tinkex:rate_limit:wait': ({ baseUrl, delayMs }) => waits.with(baseUrl).record(delayMs / 1_000),
  };
}

function recoveryMetrics(registry: Registry): EventHandlers {
  const byKind = [...BY_SERVER, 'kind'] as const;
  const events = registry.counter('tinkex_recovery_events_total', 'Observations and actions of recovery monitors, by kind.', byKind);
  const duration = registry.seconds('tinkex_recovery_duration_seconds', 'Time from the start of a recovery to the new run.', BY_SERVER);
  return recoveryHandlers((kind, { baseUrl, durationMs }) => {
    events.with(baseUrl, kind).add(1);
    if (kind === 'recovered' && durationMs !== undefined) duration.with(baseUrl).record(durationMs / 1_000);
  });
}
