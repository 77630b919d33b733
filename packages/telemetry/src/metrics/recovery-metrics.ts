import type { EventHandlers } from '../attach/attach.js';
import { recoveryHandlers } from '../attach/recovery-handlers.js';
import { safeText } from '../redaction/safe-text.js';
import { BY_SERVER } from './labels.js';
import type { Registry } from './registry.js';

/** Metrics of what recovery monitors do. */
export function recoveryMetrics(registry: Registry): EventHandlers {
  const events = registry.counter('tinkex_recovery_events_total', 'What recovery monitors saw and did about training runs, by kind.', [
    ...BY_SERVER,
    'kind',
  ]);
  const duration = registry.seconds(
    'tinkex_recovery_duration_seconds',
    'Time from the start of a recovery to the restarted run.',
    BY_SERVER,
  );
  return recoveryHandlers((kind, { baseUrl, durationMs }) => {
    events.with(safeText(baseUrl), kind).add(1);
    if (kind === 'recovered' && durationMs !== undefined) duration.with(safeText(baseUrl)).record(durationMs / 1_000);
  });
}
