import { jsonReply, refuse, type ServerReply } from '../requests/message.js';
import type { RequestContext, RouteHandler } from '../requests/request-context.js';
import { type Completion, CompletionLog } from '../state/completion-log.js';
import type { SamplerRecord } from '../state/records.js';
import type { Tenant } from '../state/tenant.js';
import { encodeSettled } from './futures.js';
import { samplerOf } from './lookup.js';

type SessionPoll = RequestContext<'retrieveFutures'>;

/** How many sequence IDs each holder of a sampling session has. */
const BLOCK = 1_000_000_000n;

export const retrieveFutures: RouteHandler<'retrieveFutures'> = (context: SessionPoll) => {
  const { server, tenant, request, raw } = context;
  const { target, prevCursor = 0, retrievedRequestIds = [] } = request;
  const sampler = samplerOf(context, target.samplingSessionId);
  for (const requestId of retrievedRequestIds) tenant.futures.expire(requestId);
  const log = completionLogOf(tenant, sampler, target.clonedSamplerId ?? 0);
  const completions = log.after(prevCursor);
  const { longPollMs } = server.settings;
  if (completions.length > 0 || longPollMs === 0) return completionsReply(context, completions, log.cursor);
  return log.wait(longPollMs, server.clock, raw.onAbort?.bind(raw)).then(() => {
    const ended = log.after(prevCursor);
    return completionsReply(context, ended, log.cursor);
  });
};

function completionsReply(context: SessionPoll, completions: readonly Completion[], cursor: number): ServerReply {
  const entries = completions.map(({ requestId, state }) => ({
    state,
    request_id: requestId,
    response_payload_uncompressed_size: state === 'finished' ? payloadSize(context, requestId) : undefined,
  }));
  return jsonReply(200, { completions: entries, cursor });
}

/** Undefined for a result that is gone, and where the poll itself decides about the format. */
function payloadSize({ server, tenant }: SessionPoll, requestId: string): number | undefined {
  const { resultFormat } = server.dialect;
  const future = tenant.futures.find(requestId);
  if (typeof future !== 'object' || resultFormat === 'accept') return undefined;
  return encodeSettled(server.dialect, future, resultFormat).body.length;
}

/** Which holder of a sampling session a sequence ID belongs to: 0 for the creator. */
export function holderOf(seqId: number | bigint): number {
  return Number(BigInt(seqId) / BLOCK);
}

/** What has ended for one holder. After a restart it starts with the futures that the restart has lost. */
export function completionLogOf(tenant: Tenant, sampler: SamplerRecord, holder: number): CompletionLog {
  const known = sampler.completions.get(holder);
  if (known !== undefined) return known;
  const log = new CompletionLog();
  const prefix = `${sampler.samplerId}:req:`;
  for (const requestId of tenant.futures.expired()) {
    if (!requestId.startsWith(prefix) || holderOf(BigInt(requestId.slice(prefix.length))) !== holder) continue;
    log.add({ requestId, state: 'failed' });
  }
  sampler.completions.set(holder, log);
  return log;
}

export const cancelFuture: RouteHandler<'cancelFuture'> = (context: RequestContext<'cancelFuture'>) => {
  const { tenant, request } = context;
  const { requestId } = request;
  context.call.requestId = requestId;
  const future = tenant.futures.find(requestId);
  if (future === undefined) context.reject(404, 'future-unknown', `The future ${requestId} does not exist`);
  if (future !== 'expired' && future.requestType !== 'Sample') refuse(400, `${requestId} is not a sample: only samples can be canceled`);
  if (future !== 'expired' && future.outcome.state === 'pending') {
    tenant.futures.settle(future, { state: 'failed', failure: { error: 'The client has canceled this sample', category: 'user' } });
  }
  return jsonReply(200, {});
};

export const joinSamplingSession: RouteHandler<'joinSamplingSession'> = (context) => {
  const sampler = samplerOf(context, context.request.samplingSessionId);
  sampler.copies += 1;
  context.tenant.changed('sampler', sampler.samplerId);
  return jsonReply(200, { client_counter: sampler.copies, type: 'join_sampling_session' });
};
