import type { RequestContext } from '../requests/request-context.js';

/** Fields that name an operation, in the order in which they are looked for. */
const NAMES = ['requestId', 'samplingSessionId', 'modelId', 'sessionId'] as const;
const NUMBERS = ['seqId', 'modelSeqId', 'samplingSessionSeqId'] as const;

/** What makes two requests tries of the same thing, however they are spread over time. */
export function operationIdentity(context: RequestContext): string {
  const request = (context.request ?? {}) as Readonly<Record<string, unknown>>;
  const name = NAMES.map((field) => request[field]).find((value) => value !== undefined);
  if (name === undefined) return `${context.raw.target} ${context.fingerprint}`;
  const number = NUMBERS.map((field) => request[field]).find((value) => value !== undefined);
  return `${String(name)} ${String(number ?? '')}`;
}
