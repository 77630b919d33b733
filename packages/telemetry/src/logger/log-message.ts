import type { TinkexEventName } from '@tinkex/types';
import type { EventFieldValues } from '../events/pick-fields.js';

/** A short line for people: the name of the event and its most informative fields. Programs read the fields. */
export function logMessage(name: TinkexEventName, fields: EventFieldValues): string {
  const { method, path, requestType, trainingRunId, status, outcome, from, to, errorCode, delayMs, durationMs } = fields;
  const request = method === undefined ? undefined : `${method} ${path}`;
  const parts = [
    name,
    // A call without an operation name is named after its request: do not repeat it.
    requestType === request ? undefined : requestType,
    request,
    trainingRunId,
    status,
    outcome,
    to === undefined ? undefined : `${from ?? 'new'} -> ${to}`,
    errorCode,
    delayMs === undefined ? undefined : `delay ${milliseconds(delayMs)}`,
    durationMs === undefined ? undefined : `in ${milliseconds(durationMs)}`,
  ];
  return parts.filter((part) => part !== undefined).join(' ');
}

function milliseconds(value: unknown): string {
  return `${typeof value === 'number' ? Math.round(value * 10) / 10 : value} ms`;
}
