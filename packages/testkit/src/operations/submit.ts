import type { Exchange } from '../exchange/exchange.js';
import { jsonReply, jsonTextReply, type ServerReply } from '../exchange/message.js';
import type { RouteName } from '../routes/route-types.js';
import { OperationFailure } from '../state/executor.js';
import type { Operation } from '../state/operation.js';
import { PromiseRecord } from '../state/promise-record.js';

/** The answer to a submission: `{ "request_id": … }` in the dialect's status. */
export function promiseReply(exchange: Exchange, requestId: string, extra?: Readonly<Record<string, unknown>>): ServerReply {
  exchange.call.requestId = requestId;
  const { submitStatus } = exchange.context.dialect;
  return extra === undefined
    ? jsonTextReply(submitStatus, `{"request_id":${JSON.stringify(requestId)}}`)
    : jsonReply(submitStatus, { request_id: requestId, ...extra });
}

/** Makes the promise of a new operation, and the operation, with a script's outcome in place of the engine's if there is one. */
export function newOperation(
  exchange: Exchange,
  init: {
    readonly requestId: string;
    readonly requestType: string;
    readonly route?: RouteName | undefined;
    readonly modelId?: string | undefined;
    readonly run: () => unknown;
  },
): Operation {
  const route = init.route ?? exchange.route;
  const promise = new PromiseRecord({ requestId: init.requestId, route, requestType: init.requestType, modelId: init.modelId });
  exchange.tenant.promises.add(promise);
  const { override } = exchange;
  return { promise, route, run: override === undefined ? init.run : () => overriddenOutcome(override) };
}

/** What a script wants a promise to end in. */
export async function overriddenOutcome({ action, call }: NonNullable<Exchange['override']>): Promise<unknown> {
  if (action.kind === 'fail') throw new OperationFailure({ error: action.failure.error, category: action.failure.category ?? 'server' });
  return typeof action.value === 'function' ? await action.value(call) : action.value;
}
