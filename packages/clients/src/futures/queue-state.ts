import type { JsonObject, QueueState } from '@tinkex/types';

/** What a pending answer says about the queue. */
export interface QueueReport {
  readonly state: QueueState;
  readonly reason?: string;
}

const KNOWN: ReadonlySet<string> = new Set(['active', 'paused_capacity', 'paused_rate_limit']);

/** Reads the queue state of a 408 body: any non-empty state is reported, an unrecognised one as `unknown`. */
export function queueStateOfTimeout(body: JsonObject): QueueReport | undefined {
  const state = body['queue_state'];
  if (typeof state !== 'string' || state === '') return undefined;
  return report(state, body);
}

/** Reads the queue state of a 200 try-again: reported if the state is recognised or a reason is given. */
export function queueStateOfTryAgain(body: JsonObject): QueueReport | undefined {
  const state = body['queue_state'];
  const isKnown = typeof state === 'string' && KNOWN.has(state);
  return isKnown || reasonOf(body) !== undefined ? report(state, body) : undefined;
}

function report(state: unknown, body: JsonObject): QueueReport {
  const reason = reasonOf(body);
  const known = typeof state === 'string' && KNOWN.has(state) ? (state as QueueState) : 'unknown';
  return { state: known, ...(reason === undefined ? {} : { reason }) };
}

function reasonOf(body: JsonObject): string | undefined {
  const reason = body['queue_state_reason'];
  return typeof reason === 'string' && reason !== '' ? reason : undefined;
}
