import type { EngineModel } from '../engine/engine.js';
import type { Exchange } from '../exchange/exchange.js';
import { refuse, type ServerReply } from '../exchange/message.js';
import { OperationFailure } from '../state/executor.js';
import type { ModelRecord } from '../state/records.js';
import { newOperation, promiseReply } from './submit.js';

/** A training operation to put into its model's order. */
export interface TrainingSubmission {
  readonly model: ModelRecord;
  readonly seqId: number | undefined;
  readonly requestType: string;
  /** Default: of the body. Give one when a repeat may legitimately differ. */
  readonly fingerprint?: string | undefined;
  readonly run: (engine: EngineModel) => unknown;
}

/**
 * Accepts a training operation: a new number gets a promise and its place in the order, a repeat of a known one the promise it
 * already has, and another body under a known number 409.
 */
export function submitTraining(exchange: Exchange, submission: TrainingSubmission): ServerReply {
  const { model, seqId } = submission;
  const { lane } = model;
  if (seqId === undefined) exchange.reject(422, 'seq-missing', `${exchange.route} needs a seq_id`);
  const fingerprint = submission.fingerprint ?? exchange.fingerprint;
  const known = lane.find(seqId);
  if (known !== undefined) {
    if (known.fingerprint !== fingerprint) {
      exchange.reject(409, 'seq-conflict', `seq_id ${seqId} of ${model.modelId} was submitted before with a different body`);
    }
    if (exchange.context.dialect.repeat === 'conflict') refuse(409, `seq_id ${seqId} of ${model.modelId} was submitted before`);
    return promiseReply(exchange, known.requestId);
  }
  if (lane.isPast(seqId)) exchange.reject(409, 'seq-conflict', `seq_id ${seqId} of ${model.modelId} comes too late: ${lane.next} is next`);
  if (exchange.context.dialect.order === 'strict' && seqId !== lane.highest + 1) {
    exchange.reject(400, 'seq-order', `seq_id ${seqId} of ${model.modelId} is out of order: ${lane.highest + 1} is next`);
  }
  const requestId = exchange.context.ids.request(model.modelId, String(seqId));
  const operation = newOperation(exchange, {
    requestId,
    requestType: submission.requestType,
    modelId: model.modelId,
    run: () => submission.run(engineOf(model)),
  });
  lane.submit(seqId, operation, { fingerprint, requestId });
  return promiseReply(exchange, requestId);
}

function engineOf(model: ModelRecord): EngineModel {
  if (model.engine === undefined) {
    throw new OperationFailure({ error: `The model ${model.modelId} could not be created`, category: 'user' });
  }
  return model.engine;
}
