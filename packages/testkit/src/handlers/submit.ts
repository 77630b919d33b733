import { jsonReply, jsonTextReply, type ServerReply } from '../requests/message.js';
import type { RequestContext } from '../requests/request-context.js';
import { type Operation, OperationFailure } from '../state/executor.js';
import { FutureRecord } from '../state/future-record.js';

/** The answer to a submission: `{ "request_id": … }` with the dialect's status. */
export function futureReply(context: RequestContext, requestId: string, extra?: Readonly<Record<string, unknown>>): ServerReply {
  context.call.requestId = requestId;
  const { submitStatus } = context.server.dialect;
  return extra === undefined
    ? jsonTextReply(submitStatus, `{"request_id":${JSON.stringify(requestId)}}`)
    : jsonReply(submitStatus, { request_id: requestId, ...extra });
}

/** Creates a new operation and its future. A script's outcome replaces the engine's. */
export function newOperation(context: RequestContext, requestId: string, requestType: string, run: () => unknown): Operation {
  const future = new FutureRecord(requestId, requestType);
  context.tenant.futures.add(future);
  context.tenant.changed('future', requestId);
  const { override, route } = context;
  return { future, route, run: override === undefined ? run : () => overriddenOutcome(override) };
}

/** The outcome that a script sets for a future. */
export async function overriddenOutcome({ action, call }: NonNullable<RequestContext['override']>): Promise<unknown> {
  if (action.kind === 'fail') throw new OperationFailure({ error: action.failure.error, category: action.failure.category ?? 'server' });
  return typeof action.value === 'function' ? await action.value(call) : action.value;
}
