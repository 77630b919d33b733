import type { Context } from '@opentelemetry/api';
import type { HttpRequestEvent } from '@tinkex/types';

let current: { readonly event: HttpRequestEvent; readonly context: Context } | undefined;
let isForgettingScheduled = false;

/**
 * Hands the context of an attempt's span to the middleware that sends the trace header. The start event is published just before the
 * middleware runs, in the same turn; the next microtask forgets it, so that it never reaches another attempt.
 */
export function announceAttempt(event: HttpRequestEvent, context: Context): void {
  current = { event, context };
  if (isForgettingScheduled) return;
  isForgettingScheduled = true;
  queueMicrotask(() => {
    isForgettingScheduled = false;
    current = undefined;
  });
}

/** The context of the attempt that sends this request, if its span was made in this very turn. Taken once. */
export function takeAttempt(method: string, url: string): Context | undefined {
  const announced = current;
  current = undefined;
  if (announced === undefined || announced.event.method !== method) return undefined;
  return url.startsWith(announced.event.baseUrl) && url.includes(announced.event.path) ? announced.context : undefined;
}
