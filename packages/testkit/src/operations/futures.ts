import type { Dialect } from '../dialects/dialect.js';
import type { Exchange, OperationHandler } from '../exchange/exchange.js';
import { jsonReply, refuse, type ServerReply } from '../exchange/message.js';
import type { PromiseFailure, PromiseRecord } from '../state/promise-record.js';
import { encodeResult, isBulkResult, resultFormat } from './encode-result.js';

type Poll = Exchange<'retrieveFuture'>;

export const retrieveFuture: OperationHandler<'retrieveFuture'> = (exchange: Poll) => {
  const { context, tenant, request, raw } = exchange;
  const { requestId } = request;
  exchange.call.requestId = requestId;
  const promise = tenant.promises.find(requestId);
  if (promise === undefined) exchange.reject(404, 'promise-unknown', `There is no promise ${requestId}`);
  if (promise === 'expired') refuse(410, `The promise ${requestId} is gone`);
  promise.polls += 1;
  checkPoll(exchange, promise);
  if (promise.outcome.state !== 'pending') return settledReply(exchange, promise);
  const { longPollMs } = context.settings;
  if (longPollMs === 0) return pendingReply(exchange, promise);
  return promise.wait(longPollMs, context.clock, raw.onAbort?.bind(raw)).then(() => {
    if (tenant.promises.find(requestId) === 'expired') refuse(410, `The promise ${requestId} is gone`);
    return promise.outcome.state === 'pending' ? pendingReply(exchange, promise) : settledReply(exchange, promise);
  });
};

function checkPoll(exchange: Poll, promise: PromiseRecord): void {
  const { headers } = exchange.raw;
  const named = headers['x-tinker-request-type'];
  if (named !== undefined && named !== promise.requestType) {
    exchange.violate('poll-request-type', `X-Tinker-Request-Type is ${named}, the promise is of ${promise.requestType}`);
  }
  const accept = headers['accept'];
  const isProtobufOnly = exchange.context.dialect.resultFormat === 'protobuf' && isBulkResult(promise);
  if (isProtobufOnly && !(accept?.includes('application/x-protobuf') || accept?.includes('*/*'))) {
    exchange.violate('poll-accept', `a poll of ${promise.requestType} accepts ${accept ?? '(nothing named)'}`);
  }
}

function settledReply(exchange: Poll, promise: PromiseRecord): ServerReply {
  const { context, tenant, request, raw } = exchange;
  const { outcome } = promise;
  if (outcome.state === 'failed') return failureReply(context.dialect, outcome.failure);
  const value = outcome.state === 'resolved' ? outcome.value : undefined;
  const format = resultFormat(context.dialect, raw.headers['accept']);
  const wantedType = isBulkResult(promise) && format === 'protobuf' ? 'application/x-protobuf' : 'application/json';
  if (promise.encoded?.contentType !== wantedType) {
    promise.encoded = encodeResult(context.dialect, promise, value, format);
    if (context.dialect.resultFormat !== 'accept') {
      // Nobody will ask for another format: the bytes are all that is kept.
      promise.dropValue();
    }
  }
  const { contentType, body } = promise.encoded;
  if (body.length >= context.settings.metadataOnlyBytes && request.allowMetadataOnly === true) {
    return jsonReply(200, { status: 'complete_metadata', response_payload_size: body.length });
  }
  tenant.promises.delivered(promise, body.length);
  return { status: 200, headers: { 'content-type': contentType }, body };
}

function pendingReply({ context }: Poll, promise: PromiseRecord): ServerReply {
  const { pending } = context.dialect;
  if (pending === 'timeout-blank') return { status: 408, headers: {}, body: '' };
  const { note } = context.pause;
  const body = {
    type: 'try_again',
    request_id: promise.requestId,
    queue_state: note?.state ?? 'active',
    queue_state_reason: note?.reason,
  };
  return jsonReply(pending === 'timeout' ? 408 : 200, body);
}

function failureReply({ failure, failureCategory }: Dialect, { error, category }: PromiseFailure): ServerReply {
  const spelt = { plain: category, suffixed: `${category}_error`, upper: category.toUpperCase(), none: undefined }[failureCategory];
  const fields = spelt === undefined ? { error } : { error, category: spelt };
  switch (failure) {
    case 'category':
      return jsonReply(200, fields);
    case 'request-failed':
      return jsonReply(200, { type: 'request_failed', ...fields });
    case 'detail':
      return jsonReply(400, { detail: error });
    case 'error-message':
      return jsonReply(400, { error_message: error });
  }
}
