import { elapsedMs, hasSubscribers, type MonotonicTime, publish } from '@tinkex/http';
import { type Datum, type ForwardBackwardOutput, lossOf } from '@tinkex/types';
import type { DataChunk } from '@tinkex/types/wire';
import type { OngoingCall } from '../futures/running-call.js';
import type { TrainedModel } from './operations.js';

/** The part of a pass that its events show. */
interface ShownPass {
  readonly requestType: 'Forward' | 'ForwardBackward';
  readonly chunks: readonly DataChunk[];
  readonly turn: { readonly seqIds: readonly number[] };
}

/** Publishes a chunk that the server has accepted. */
export function publishChunk(
  { parts, modelId }: TrainedModel,
  pass: ShownPass,
  chunkIndex: number,
  ids: { readonly requestId: string; readonly callId: number },
  startedAt: MonotonicTime,
): void {
  if (!hasSubscribers('tinkex:chunk:submit')) return;
  const { clock, source } = parts.runtime;
  const chunk = pass.chunks[chunkIndex];
  publish('tinkex:chunk:submit', {
    requestType: pass.requestType,
    modelId,
    seqId: pass.turn.seqIds[chunkIndex] as number,
    chunkIndex,
    chunkCount: pass.chunks.length,
    datums: chunk?.data.length ?? 0,
    estimatedBytes: chunk?.estimatedBytes ?? 0,
    durationMs: elapsedMs(clock, startedAt),
    ...ids,
    ...source(),
  });
}

/** Publishes a pass that succeeded. */
export function publishPass(
  model: TrainedModel,
  { startedAt, core: { callId } }: OngoingCall,
  { requestType, chunks }: ShownPass,
  requestId: string | undefined,
  output: ForwardBackwardOutput,
): void {
  if (!hasSubscribers('tinkex:training:operation')) return;
  let datums = 0;
  let tokens = 0;
  let lossWeight = 0;
  for (const { data } of chunks) {
    datums += data.length;
    for (const datum of data) {
      tokens += textTokens(datum);
      lossWeight += weightOf(datum);
    }
  }
  // A server may send no metrics; the events show the loss all the same.
  const loss = lossOf(
    output,
    chunks.flatMap(({ data }) => data),
  );
  const metrics = loss === undefined ? output.metrics : { ...output.metrics, 'loss:sum': loss };
  model.publishOperation({ requestType, callId, requestId, datums, tokens, lossWeight, metrics, startedAt });
}

/** What `loss:sum` is divided by for the loss per token: the weights, or the number of targets where there are none. */
function weightOf({ lossFnInputs: { weights, targetTokens } }: Datum): number {
  if (weights === undefined) return targetTokens?.data.length ?? 0;
  let sum = 0;
  for (let index = 0; index < weights.data.length; index += 1) sum += Number(weights.data[index]);
  return sum;
}

/** Text tokens only: the server decides the length of an image. */
function textTokens({ modelInput }: Datum): number {
  let tokens = 0;
  for (const chunk of modelInput.chunks) if (chunk.type === 'encoded_text') tokens += chunk.tokens.length;
  return tokens;
}
