import type { RequestContext } from '../requests/request-context.js';

/** Gives up the sequence number of a submission that was refused for good: those behind it must not wait for it. */
export function skipRefused(context: RequestContext, status: number): void {
  const isFinal = status >= 400 && status < 500 && ![402, 408, 409, 429].includes(status);
  const { modelId, seqId } = (context.request ?? {}) as { readonly modelId?: unknown; readonly seqId?: unknown };
  if (isFinal && typeof modelId === 'string' && typeof seqId === 'number') context.tenant.models.get(modelId)?.lane.skip(seqId);
}
