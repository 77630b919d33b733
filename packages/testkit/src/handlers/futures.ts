import type { WireFormat } from '@tinkex/types';
import type { Dialect } from '../dialects/dialect.js';
import { jsonReply, refuse, type ServerReply } from '../requests/message.js';
import type { RequestContext, RouteHandler } from '../requests/request-context.js';
import type { FutureFailure, FutureRecord } from '../state/future-record.js';
import { type EncodedResult, encodeResult, isBulkResult, resultFormat } from './encode-result.js';

type Poll = RequestContext<'retrieveFuture'>;

export const retrieveFuture: RouteHandler<'retrieveFuture'> = (context: Poll) => {
  const { server, tenant, request, raw } = context;
  const { requestId } = request;
  context.call.requestId = requestId;
  const future = tenant.futures.find(requestId);
  if (future === undefined) context.reject(404, 'future-unknown', `The future ${requestId} does not exist`);
  if (future === 'expired') refuse(410, `The future ${requestId} is gone`);
  checkPoll(context, future);
  if (future.outcome.state !== 'pending') return settledReply(context, future);
  const { longPollMs } = server.settings;
  if (longPollMs === 0) return pendingReply(context, future);
  return future.wait(longPollMs, server.clock, raw.onAbort?.bind(raw)).then(() => {
    if (tenant.futures.find(requestId) === 'expired') refuse(410, `The future ${requestId} is gone`);
    return future.outcome.state === 'pending' ? pendingReply(context, future) : settledReply(context, future);
  });
};

function checkPoll(context: Poll, future: FutureRecord): void {
  const { headers } = context.raw;
  const named = headers['x-tinker-request-type'];
  if (named !== undefined && named !== future.requestType) {
    context.violate('poll-request-type', `X-Tinker-Request-Type is ${named}, the future belongs to ${future.requestType}`);
  }
  const accept = headers['accept'];
  const isProtobufOnly = context.server.dialect.resultFormat === 'protobuf' && isBulkResult(future);
  if (isProtobufOnly && !(accept?.includes('application/x-protobuf') || accept?.includes('*/*'))) {
    context.violate('poll-accept', `a poll of ${future.requestType} accepts ${accept ?? '(nothing named)'}`);
  }
}

function settledReply(context: Poll, future: FutureRecord): ServerReply {
  const { server, tenant, request, raw } = context;
  const { outcome } = future;
  if (outcome.state === 'failed') return failureReply(server.dialect, outcome.failure);
  const { contentType, body } = encodeSettled(server.dialect, future, resultFormat(server.dialect, raw.headers['accept']));
  if (body.length >= server.settings.metadataOnlyBytes && request.allowMetadataOnly === true) {
    return jsonReply(200, { status: 'complete_metadata', response_payload_size: body.length });
  }
  tenant.futures.delivered(future, body.length);
  return { status: 200, headers: { 'content-type': contentType }, body };
}

/** The result of a future on the wire. The future keeps it for repeated polls. */
export function encodeSettled(dialect: Dialect, future: FutureRecord, format: WireFormat): EncodedResult {
  const { outcome } = future;
  const wantedType = isBulkResult(future) && format === 'protobuf' ? 'application/x-protobuf' : 'application/json';
  if (future.encoded?.contentType === wantedType) return future.encoded;
  future.encoded = encodeResult(dialect, future, outcome.state === 'resolved' ? outcome.value : undefined, format);
  // No poll can request another format, so only the bytes are kept.
  if (dialect.resultFormat !== 'accept') future.dropValue();
  return future.encoded;
}

function pendingReply({ server }: Poll, future: FutureRecord): ServerReply {
  const { pending } = server.dialect;
  if (pending === 'timeout-blank') return { status: 408, headers: {}, body: '' };
  const { note } = server.pause;
  const body = {
    type: 'try_again',
    request_id: future.requestId,
    queue_state: note?.state ?? 'active',
    queue_state_reason: note?.reason,
  };
  return jsonReply(pending === 'timeout' ? 408 : 200, body);
}

function failureReply({ failure, failureCategory, failureStatus }: Dialect, { error, category }: FutureFailure): ServerReply {
  const spelled = { plain: category, suffixed: `${category}_error`, upper: category.toUpperCase(), none: undefined }[failureCategory];
  const fields = spelled === undefined ? { error } : { error, category: spelled };
  switch (failure) {
    case 'category':
      return jsonReply(200, fields);
    case 'request-failed':
      return jsonReply(200, { type: 'request_failed', ...fields });
    case 'detail':
      return jsonReply(failureStatus, { detail: error });
    case 'error-message':
      return jsonReply(failureStatus, { error_message: error });
  }
}
