import type { HttpClient } from '@tinkex/http';
import { findNodeModule, randomUuid } from '@tinkex/http/runtime';
import { endpoints, type TelemetryRequest, telemetryRequest, telemetryResponse } from '@tinkex/types/wire';
import type { SendBatch } from './delivery.js';
import type { TelemetryEvent } from './telemetry-event.js';

const PROCESS_UUID = Symbol.for('tinkex.processUuid');

/** The request that reports these events: they, the process, the session. */
export function telemetryBatch(
  events: TelemetryEvent[],
  session: { readonly sessionId: string; readonly sdkVersion: string },
): TelemetryRequest {
  const { sessionId, sdkVersion } = session;
  return { events, platform: platformName(), sdkVersion, sessionId, processUuid: processUuid() };
}

/** Sends batches through an HTTP client. The reporter repeats them itself, so the HTTP layer must not. */
export function sendOverHttp(http: HttpClient, attemptTimeoutMs: number): SendBatch {
  const { method, path, pool } = endpoints.telemetry;
  return (batch, signal) =>
    http.request({
      method,
      path,
      pool,
      body: telemetryRequest.encode(batch),
      schema: telemetryResponse,
      maxRetries: 0,
      attemptTimeoutMs,
      signal,
      requestType: 'Telemetry',
    });
}

/** One ID for this process, shared by all sessions and by all copies of this package in it. */
function processUuid(): string {
  const shared = globalThis as { [PROCESS_UUID]?: string };
  shared[PROCESS_UUID] ??= randomUuid();
  return shared[PROCESS_UUID];
}

/** The operating system in the service's terms: `Linux`, `Darwin`, `Windows`. */
function platformName(): string {
  const name = findNodeModule('node:os')?.type() ?? 'unknown';
  return name === 'Windows_NT' ? 'Windows' : name;
}
