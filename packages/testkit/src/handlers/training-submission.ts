import type { EngineModel } from '../engine/engine.js';
import { refuse, type ServerReply } from '../requests/message.js';
import type { RequestContext } from '../requests/request-context.js';
import { acceptedId } from '../state/accepted-id.js';
import { OperationFailure, UserFailure } from '../state/executor.js';
import type { AcceptedOperation, ModelRecord } from '../state/records.js';
import { futureReply, newOperation } from './submit.js';

/** A training operation to add to its model's lane. */
export interface TrainingSubmission {
  readonly model: ModelRecord;
  readonly seqId: number | undefined;
  readonly requestType: string;
  /** Equal for a repeat. Default: the fingerprint of the body. */
  readonly fingerprint?: string | undefined;
  /** Whether it changes weights, optimizer or gradients. Default false. */
  readonly changesEngine?: boolean | undefined;
  readonly run: (engine: EngineModel) => unknown;
}

/**
 * Accepts a training operation. A new sequence ID gets a future and a place in the lane, a repeat gets the future it already has, and
 * another body under a known sequence ID gets 409.
 */
export function submitTraining(context: RequestContext, submission: TrainingSubmission): ServerReply {
  const { model, seqId } = submission;
  const { lane } = model;
  if (seqId === undefined) context.reject(422, 'seq-missing', `${context.route} needs a seq_id`);
  const fingerprint = submission.fingerprint ?? context.fingerprint;
  const known = lane.find(seqId);
  if (known !== undefined) {
    if (known.fingerprint !== fingerprint) {
      context.reject(409, 'seq-conflict', `seq_id ${seqId} of ${model.modelId} was submitted before with a different body`);
    }
    if (context.server.dialect.repeat === 'conflict') refuse(409, `seq_id ${seqId} of ${model.modelId} was submitted before`);
    return futureReply(context, known.requestId);
  }
  if (lane.isPast(seqId)) context.reject(409, 'seq-conflict', `seq_id ${seqId} of ${model.modelId} is too late: ${lane.next} is next`);
  if (context.server.dialect.order === 'strict' && seqId !== lane.highest + 1) {
    context.reject(400, 'seq-order', `seq_id ${seqId} of ${model.modelId} is out of order: ${lane.highest + 1} is next`);
  }
  const requestId = context.server.ids.request(model.modelId, String(seqId));
  if (context.server.dialect.order === 'gapless' && seqId !== lane.highest + 1) return failBehindGap(context, submission, requestId, seqId);
  const accepted = { fingerprint, requestId };
  context.tenant.changed('accepted', acceptedId(model.modelId, seqId));
  if (model.progress.hasLostChanges) {
    model.progress.hasLostChanges = false;
    // A load replaces what was lost. Anything else would continue from weights that the client does not expect: its future has expired.
    if (context.route !== 'loadWeights') return expiredReply(context, model, seqId, accepted);
  }
  const operation = newOperation(context, requestId, submission.requestType, () => runInEngine(context, submission));
  lane.submit(seqId, operation, accepted);
  return futureReply(context, requestId);
}

/** Accepts an operation that fails, because the server never got the one before it. It does not count: the next one fails too. */
function failBehindGap(context: RequestContext, { model, requestType }: TrainingSubmission, requestId: string, seqId: number): ServerReply {
  const expected = model.lane.highest + 1;
  const operation = newOperation(context, requestId, requestType, () => {
    throw new UserFailure(`Sequence conflict: expected ${expected}, got ${seqId}.`);
  });
  void context.server.executor.execute(context.tenant, operation);
  return futureReply(context, requestId);
}

function expiredReply(context: RequestContext, { modelId, lane }: ModelRecord, seqId: number, accepted: AcceptedOperation): ServerReply {
  const { tenant } = context;
  lane.drop(seqId, accepted);
  tenant.futures.markExpired([accepted.requestId]);
  tenant.changed('future', accepted.requestId);
  tenant.changed('progress', modelId);
  return futureReply(context, accepted.requestId);
}

async function runInEngine(
  { server, tenant }: RequestContext,
  { model, changesEngine = false, run }: TrainingSubmission,
): Promise<unknown> {
  const { progress, modelId } = model;
  const engine = engineOf(model);
  progress.isBusy = true;
  try {
    return await run(engine);
  } finally {
    progress.isBusy = false;
    tenant.changed('progress', modelId);
    // Also after a failure: an optimizer step that is refused drops the gradients.
    if (changesEngine) await server.changes.trained(tenant, model);
  }
}

function engineOf(model: ModelRecord): EngineModel {
  if (model.engine === undefined) {
    throw new OperationFailure({ error: `The model ${model.modelId} could not be created`, category: 'user' });
  }
  return model.engine;
}
