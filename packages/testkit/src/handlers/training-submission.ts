import type { EngineModel } from '../engine/engine.js';
import { refuse, type ServerReply } from '../requests/message.js';
import type { RequestContext } from '../requests/request-context.js';
import { OperationFailure } from '../state/executor.js';
import type { ModelRecord } from '../state/records.js';
import { futureReply, newOperation } from './submit.js';

/** A training operation to add to its model's lane. */
export interface TrainingSubmission {
  readonly model: ModelRecord;
  readonly seqId: number | undefined;
  readonly requestType: string;
  /** Equal for a repeat. Default: the fingerprint of the body. */
  readonly fingerprint?: string | undefined;
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
  const operation = newOperation(context, requestId, submission.requestType, () => submission.run(engineOf(model)));
  lane.submit(seqId, operation, { fingerprint, requestId });
  return futureReply(context, requestId);
}

function engineOf(model: ModelRecord): EngineModel {
  if (model.engine === undefined) {
    throw new OperationFailure({ error: `The model ${model.modelId} could not be created`, category: 'user' });
  }
  return model.engine;
}
