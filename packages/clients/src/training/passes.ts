import {
  type ApiStatusError,
  type Datum,
  type ForwardBackwardOutput,
  type LossFnType,
  ValidationError,
  type WireFormat,
} from '@tinkex/types';
import {
  apiStatusError,
  chunkData,
  combineForwardBackwardOutputs,
  type DataChunk,
  endpoints,
  PROTOBUF_CONTENT_TYPE,
  protobuf,
} from '@tinkex/types/wire';
import { type AttemptFailure, Doubt, statusOf } from '../calls/attempt-failure.js';
import type { OngoingCall } from '../futures/running-call.js';
import type { PassBodies } from './body-memory.js';
import { ChunkGroup } from './chunk-group.js';
import { explainInvalidData } from './explain-invalid-data.js';
import { pollResult, type TrainedModel } from './operations.js';
import { publishChunk, publishPass } from './pass-events.js';
import type { PassOptions } from './training-options.js';
import type { Turn } from './turn-queue.js';
import { isTemporary, isUnknownForm } from './wire-dialect.js';

/** One forward or forward/backward pass, with its turn reserved. */
export interface Pass {
  readonly requestType: 'Forward' | 'ForwardBackward';
  readonly chunks: readonly DataChunk[];
  readonly turn: Turn;
  readonly lossFn: LossFnType;
  readonly lossFnConfig?: PassOptions['lossFnConfig'];
  readonly bodies: PassBodies;
}

/** A whole pass: reserves its turn, submits its chunks, collects their results. Synchronous with the user's call until its first `await`. */
export async function runPass(
  model: TrainedModel,
  call: OngoingCall,
  requestType: Pass['requestType'],
  data: readonly Datum[],
  lossFn: LossFnType,
  lossFnConfig: PassOptions['lossFnConfig'],
): Promise<ForwardBackwardOutput> {
  const chunks = splitData(model, data);
  const turn = model.reserve(call, chunks.length);
  const pass = { requestType, chunks, turn, lossFn, lossFnConfig, bodies: model.parts.training.bodyMemory.forPass() };
  const requestIds = await submitPass(model, call, pass);
  call.accept(requestIds);
  return collectPass(model, call, pass, requestIds);
}

/**
 * Splits the data of one call into chunks, within the server's limits.
 *
 * @throws `ValidationError` when there is no data, or it is invalid: nothing is sent and no sequence ID is used.
 */
export function splitData({ parts }: TrainedModel, data: readonly Datum[]): readonly DataChunk[] {
  if (data.length === 0) {
    const issues = [{ path: 'data', message: 'is empty; pass at least one datum' }];
    throw new ValidationError({ direction: 'request', subject: 'call', issues });
  }
  const { fwdbwdMaxChunkLen, fwdbwdMaxChunkBytesCount } = parts.training.config;
  try {
    return chunkData(data, { maxChunkLength: fwdbwdMaxChunkLen, maxChunkBytes: fwdbwdMaxChunkBytesCount });
  } catch (error) {
    throw explainInvalidData(data, error);
  }
}

/**
 * Submits the chunks of one pass in its turn. The server cannot start before it has the first chunk, so with parallel submission that one
 * goes last: by then the whole batch is queued.
 *
 * If a chunk is refused the pass fails: chunks in transit are aborted, those not sent yet are never sent, and the turn ends, so that the
 * operations called later continue.
 *
 * @returns The request IDs in data order.
 */
export async function submitPass(model: TrainedModel, call: OngoingCall, pass: Pass): Promise<readonly string[]> {
  const { turn, chunks } = pass;
  const group = new ChunkGroup(call.signal, turn.seqIds);
  try {
    await turn.start(call.signal);
    if (model.parts.training.config.parallelFwdbwdChunks && chunks.length > 1) {
      await Promise.allSettled(chunks.slice(1).map((_, index) => submitChunk(model, call, pass, index + 1, group)));
      group.throwIfFailed();
      await submitChunk(model, call, pass, 0, group);
    } else {
      for (let index = 0; index < chunks.length; index += 1) await submitChunk(model, call, pass, index, group);
    }
    return group.requestIds as string[];
  } catch (error) {
    pass.bodies.end();
    throw group.explain(error);
  } finally {
    group.end();
    turn.end();
  }
}

/** Submits one chunk when there is room for its bytes. The room is free again as soon as the server has accepted the chunk. */
async function submitChunk(model: TrainedModel, call: OngoingCall, pass: Pass, index: number, group: ChunkGroup): Promise<void> {
  const { runtime, training } = model.parts;
  const { estimatedBytes } = chunkAt(pass, index);
  const startedAt = runtime.clock.monotonicMs();
  try {
    await training.dispatchBudget.enter(estimatedBytes, group.signal);
    try {
      const requestId = await sendChunk(model, call, pass, index, group.signal);
      group.requestIds[index] = requestId;
      publishChunk(model, pass, index, { requestId, callId: call.core.callId }, startedAt);
    } finally {
      training.dispatchBudget.leave(estimatedBytes);
    }
  } catch (error) {
    group.fail(error, index);
    throw error;
  }
}

/** Sends one chunk in the format that the server is known to accept. While that is open, in rounds that offer both. */
async function sendChunk(model: TrainedModel, call: OngoingCall, pass: Pass, index: number, signal: AbortSignal): Promise<string> {
  const { calls, training } = model.parts;
  if (training.dialect.known !== undefined) return sendChunkAs(training.dialect.known, model, call, pass, index, { signal });
  const doubt = new Doubt();
  const onRetry = (error: unknown): void => {
    doubt.note({ error });
    pass.bodies.abandon(index);
  };
  try {
    return await calls.retry(() => offerChunk(model, call, pass, index, { signal, doubt }), {
      operation: 'forwardBackward',
      signal,
      onRetry,
    });
  } catch (error) {
    throw doubt.explain(error);
  }
}

/** How one chunk is sent. */
interface Sending {
  readonly signal: AbortSignal;
  /** Follows the attempts of all rounds, if there are rounds. */
  readonly doubt?: Doubt;
  /** Whether a 500 may mean the format: the other one is offered before this one is repeated. */
  readonly isProbe?: boolean;
}

/** One round: sends a chunk in the likelier format and, if that may be what the server refuses, in the other. */
async function offerChunk(model: TrainedModel, call: OngoingCall, pass: Pass, index: number, sending: Sending): Promise<string> {
  const { dialect } = model.parts.training;
  const candidates = dialect.candidates;
  const [first, second] = candidates;
  const send = async (format: WireFormat, isProbe: boolean): Promise<string> => {
    const requestId = await sendChunkAs(format, model, call, pass, index, { ...sending, isProbe: isProbe && dialect.known === undefined });
    dialect.accepted(format);
    return requestId;
  };
  let refusal: ApiStatusError;
  try {
    return await send(first, true);
  } catch (error) {
    if (!dialect.mayRefuse(first, error)) throw error;
    refusal = error;
  }
  try {
    return await send(second, true);
  } catch (error) {
    // The server failed for another reason than the format: the usual retries.
    if (refusal.status === 500 && isUnknownForm(error)) return send(first, false);
    // It takes only the second format: what it says to that is its answer, and the next round may repeat it.
    if (isUnknownForm(refusal) && isTemporary(error)) throw error;
    throw dialect.explainRefusal(candidates, refusal, error);
  }
}

async function sendChunkAs(
  format: WireFormat,
  { modelId, parts }: TrainedModel,
  { headers, core }: OngoingCall,
  { requestType, chunks, turn, lossFn, lossFnConfig, bodies }: Pass,
  index: number,
  { signal, doubt, isProbe = false }: Sending,
): Promise<string> {
  const isForward = requestType === 'Forward';
  const data = chunks[index]?.data ?? [];
  const body = { modelId, seqId: turn.seqIds[index] as number, data, lossFn, lossFnConfig, forwardOnly: isForward || undefined };
  const onRetry = (failure: AttemptFailure): void => {
    doubt?.note(failure);
    bodies.abandon(index);
    // Repeating it would take minutes; the other format may be accepted immediately.
    if (isProbe && statusOf(failure) === 500) throw apiStatusError({ status: 500, method: 'POST', path: endpoints.forwardBackward.path });
  };
  const options = { signal, headers, callId: core.callId, isScoped: true, onRetry, ...(doubt !== undefined && { hasOuterRetry: false }) };
  bodies.abandon(index);
  if (format === 'json') {
    const { requestId } = await parts.calls.call(isForward ? 'forward' : 'forwardBackward', { body }, options);
    return requestId;
  }
  const bytes = protobuf.forwardBackwardRequest.encode(body, (size) => bodies.allocate(index, size));
  const compress = parts.training.config.protoCompressFwdbwd ? 'zstd' : undefined;
  const { requestId } = await parts.calls.call(
    'forwardBackward',
    { encoded: { bytes, contentType: PROTOBUF_CONTENT_TYPE, compress } },
    options,
  );
  return requestId;
}

/** Waits for the results of all chunks and combines them in data order. */
export async function collectPass(
  model: TrainedModel,
  call: OngoingCall,
  pass: Pass,
  requestIds: readonly string[],
): Promise<ForwardBackwardOutput> {
  try {
    const outputs = await Promise.all(requestIds.map((requestId, index) => collectChunk(model, call, pass, requestId, index)));
    const output = combineForwardBackwardOutputs(outputs);
    publishPass(model, call, pass, requestIds[0], output);
    return output;
  } finally {
    pass.bodies.end();
  }
}

async function collectChunk(
  model: TrainedModel,
  call: OngoingCall,
  { requestType, bodies }: Pass,
  requestId: string,
  index: number,
): Promise<ForwardBackwardOutput> {
  const output = await pollResult(model.parts, call, requestType, requestId);
  bodies.release(index);
  return output;
}

function chunkAt({ chunks }: Pass, index: number): DataChunk {
  const chunk = chunks[index];
  if (chunk === undefined) throw new RangeError(`There is no chunk ${index}.`);
  return chunk;
}
