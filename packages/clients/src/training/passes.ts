import { hasSubscribers, publish } from '@tinkex/http';
import type { Datum, ForwardBackwardOutput } from '@tinkex/types';
import { combineForwardBackwardOutputs, protobuf } from '@tinkex/types/wire';
import type { Operation } from '../futures/running-call.js';
import { ChunkBodies } from './chunk-bodies.js';
import { submitChunks } from './chunk-submission.js';
import type { ModelOperations } from './model-operations.js';
import type { PassPlan } from './pass-plan.js';
import type { PassOptions } from './training-options.js';
import type { Turn } from './turn-queue.js';

/** One forward or forward/backward pass, with its turn already taken. */
export interface ForwardPass {
  readonly plan: PassPlan;
  readonly turn: Turn;
  readonly lossFn: string;
  readonly isForwardOnly: boolean;
  readonly options: PassOptions;
}

/** Submits the chunks of a pass in its turn, waits for all of them and puts the results together in data order. */
export async function runForwardPass(model: ModelOperations, operation: Operation, pass: ForwardPass): Promise<ForwardBackwardOutput> {
  const requestType = pass.isForwardOnly ? 'Forward' : 'ForwardBackward';
  const bodies = new ChunkBodies(model.connection.bodyBuffers);
  try {
    const requestIds = await submitChunks({
      turn: pass.turn,
      isParallel: model.connection.config.parallelFwdbwdChunks,
      signal: operation.signal,
      submit: (index, signal) => submitChunk(model, pass, index, signal, bodies),
    });
    operation.accepted(requestIds);
    const outputs = await Promise.all(
      requestIds.map(async (id, index) => {
        const output = await model.result(operation, id, requestType, pass.options);
        bodies.done(index);
        return output;
      }),
    );
    const output = combineForwardBackwardOutputs(outputs);
    publishPass(model, pass, requestType, requestIds[0], output, operation.startedAtMs);
    return output;
  } finally {
    bodies.end();
  }
}

/** Sends one chunk when there is room for its bytes; the room is free again as soon as the server has accepted it. */
async function submitChunk(
  model: ModelOperations,
  pass: ForwardPass,
  index: number,
  signal: AbortSignal,
  bodies: ChunkBodies,
): Promise<string> {
  const { connection, modelId } = model;
  const chunk = pass.plan.chunks[index];
  const seqId = pass.turn.seqIds[index];
  if (chunk === undefined || seqId === undefined) throw new RangeError(`There is no chunk ${index}`);
  const { lossFnConfig, headers } = pass.options;
  const startedAtMs = connection.clock.now();
  const body = {
    modelId,
    seqId,
    data: chunk.data,
    lossFn: pass.lossFn,
    ...(lossFnConfig === undefined ? {} : { lossFnConfig }),
    ...(pass.isForwardOnly ? { forwardOnly: true } : {}),
  };
  const options = { signal, isScoped: true, onRetry: () => bodies.forget(index), ...(headers === undefined ? {} : { headers }) };
  await connection.dispatchBudget.enter(chunk.estimatedBytes, signal);
  try {
    const { requestId } = await connection.dialect.send((encoding) => {
      bodies.forget(index);
      if (encoding === 'json') return connection.call(pass.isForwardOnly ? 'forward' : 'forwardBackward', { body }, options);
      const bytes = protobuf.forwardBackwardRequest.encode(body, (size) => bodies.allocate(index, size));
      const compress = connection.config.protoCompressFwdbwd ? { compress: 'zstd' as const } : {};
      return connection.call('forwardBackward', { encoded: { bytes, contentType: 'application/x-protobuf', ...compress } }, options);
    });
    publishChunk(model, pass, index, seqId, requestId, startedAtMs);
    return requestId;
  } finally {
    connection.dispatchBudget.leave(chunk.estimatedBytes);
  }
}

function publishChunk(
  model: ModelOperations,
  pass: ForwardPass,
  chunkIndex: number,
  seqId: number,
  requestId: string,
  startedAtMs: number,
): void {
  if (!hasSubscribers('tinkex:chunk:submit')) return;
  const { connection, modelId } = model;
  const chunk = pass.plan.chunks[chunkIndex];
  publish('tinkex:chunk:submit', {
    requestType: pass.isForwardOnly ? 'Forward' : 'ForwardBackward',
    requestId,
    modelId,
    seqId,
    chunkIndex,
    chunkCount: pass.plan.chunks.length,
    datums: chunk?.data.length ?? 0,
    estimatedBytes: chunk?.estimatedBytes ?? 0,
    durationMs: connection.clock.now() - startedAtMs,
    ...connection.source(),
  });
}

function publishPass(
  model: ModelOperations,
  { plan }: ForwardPass,
  requestType: string,
  requestId: string | undefined,
  { metrics }: ForwardBackwardOutput,
  startedAtMs: number,
): void {
  if (!hasSubscribers('tinkex:training:operation')) return;
  let tokens = 0;
  for (const { data } of plan.chunks) for (const datum of data) tokens += textTokens(datum);
  model.publishOperation({ requestType, requestId, datums: plan.datums, tokens, metrics, startedAtMs });
}

/** Text tokens only: the length of an image is the server's to say. */
function textTokens({ modelInput }: Datum): number {
  let tokens = 0;
  for (const chunk of modelInput.chunks) if (chunk.type === 'encoded_text') tokens += chunk.tokens.length;
  return tokens;
}
