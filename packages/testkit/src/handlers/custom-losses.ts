import { type LossFnConfig, ValidationError } from '@tinkex/types';
import { type CustomLossProgram, compileCustomLoss } from '@tinkex/types/custom-loss';
import { refuse } from '../requests/message.js';
import type { RequestContext, RouteHandler } from '../requests/request-context.js';
import { sessionOf } from './lookup.js';
import { futureReply, newOperation } from './submit.js';

/** Stores a loss in its session. A graph that the interpreter cannot run gets 400, which names the node. A repeat gets the same future. */
export const createCustomLoss: RouteHandler<'createCustomLoss'> = (context) => {
  const { server, tenant, fingerprint } = context;
  const { sessionId, customLossSeqId, name, inputs, graph } = context.request;
  const session = sessionOf(context, sessionId);
  const known = session.customLosses.get(customLossSeqId);
  if (known !== undefined) {
    if (known.fingerprint !== fingerprint) {
      context.reject(409, 'seq-conflict', `custom_loss_seq_id ${customLossSeqId} of ${sessionId} was used before with a different body`);
    }
    return futureReply(context, known.requestId);
  }
  const definition = { name, inputs, graph };
  compiled(() => compileCustomLoss(definition));
  const lossId = server.ids.customLoss(sessionId, customLossSeqId);
  const requestId = server.ids.request(lossId, '0');
  session.customLosses.set(customLossSeqId, { fingerprint, requestId, lossId, definition });
  tenant.changed('session', sessionId);
  const operation = newOperation(context, requestId, 'CreateCustomLoss', () => ({ lossId }));
  void server.executor.execute(tenant, operation);
  return futureReply(context, requestId);
};

/** The stored loss that a pass with the loss function `custom` names, or 400. */
export function customLossOf(context: RequestContext, sessionId: string, config: LossFnConfig = {}): CustomLossProgram {
  const { loss_id: lossId, ...others } = config;
  const [unknown] = Object.keys(others);
  if (typeof lossId !== 'string') refuse(400, "The loss function 'custom' needs the text setting loss_id");
  if (unknown !== undefined) refuse(400, `The loss function 'custom' has no setting ${unknown}; it has only loss_id`);
  const found = [...sessionOf(context, sessionId).customLosses.values()].find((loss) => loss.lossId === lossId);
  if (found === undefined) refuse(400, `There is no custom loss ${lossId} in the session ${sessionId}`);
  return compiled(() => compileCustomLoss(found.definition));
}

function compiled(compile: () => CustomLossProgram): CustomLossProgram {
  try {
    return compile();
  } catch (error) {
    if (ValidationError.isInstance(error)) refuse(400, error.message);
    throw error;
  }
}
