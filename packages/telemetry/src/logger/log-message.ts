import type { TinkexEventName } from '@tinkex/types';
import type { EventFieldValues } from '../events/pick-fields.js';

/** A short line for people: the event and what is most telling about it. Machines read the fields. */
export function logMessage(name: TinkexEventName, fields: EventFieldValues): string {
  const parts: string[] = [name];
  const request = fields['method'] === undefined ? undefined : `${fields['method']} ${fields['path']}`;
  // A call without an operation's name is named after its request.
  if (fields['requestType'] !== undefined && fields['requestType'] !== request) parts.push(String(fields['requestType']));
  if (request !== undefined) parts.push(request);
  if (fields['trainingRunId'] !== undefined) parts.push(String(fields['trainingRunId']));
  if (fields['status'] !== undefined) parts.push(String(fields['status']));
  if (fields['outcome'] !== undefined) parts.push(String(fields['outcome']));
  if (fields['to'] !== undefined) parts.push(`${fields['from'] ?? 'new'} -> ${fields['to']}`);
  if (fields['errorCode'] !== undefined) parts.push(String(fields['errorCode']));
  if (fields['delayMs'] !== undefined) parts.push(`delay ${milliseconds(fields['delayMs'])}`);
  if (fields['durationMs'] !== undefined) parts.push(`in ${milliseconds(fields['durationMs'])}`);
  return parts.join(' ');
}

function milliseconds(value: unknown): string {
  return `${typeof value === 'number' ? Math.round(value * 10) / 10 : value} ms`;
}
