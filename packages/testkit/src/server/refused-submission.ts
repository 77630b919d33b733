import type { Exchange } from '../exchange/exchange.js';

/** Gives up the sequence number of a submission that was refused for good: those behind it must not wait for it. */
export function skipRefused(exchange: Exchange, status: number): void {
  const isFinal = status >= 400 && status < 500 && ![402, 408, 409, 429].includes(status);
  const { modelId, seqId } = (exchange.request ?? {}) as { readonly modelId?: unknown; readonly seqId?: unknown };
  if (isFinal && typeof modelId === 'string' && typeof seqId === 'number') exchange.tenant.models.get(modelId)?.lane.skip(seqId);
}
