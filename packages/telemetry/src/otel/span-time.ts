import type { HrTime } from '@opentelemetry/api';

/**
 * Milliseconds since the epoch as OpenTelemetry's pair. A plain number would be ambiguous: small ones (an injected clock that starts at 0)
 * are taken as time since the process began.
 */
export function spanTime(epochMs: number): HrTime {
  const seconds = Math.floor(epochMs / 1_000);
  return [seconds, Math.round((epochMs - seconds * 1_000) * 1_000_000)];
}
