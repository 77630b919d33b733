import type { AdamParams, ForwardBackwardOutput } from '@tinkex/types';
import type { Exchange, OperationHandler } from '../exchange/exchange.js';
import type { ServerReply } from '../exchange/message.js';
import { modelOf } from './lookup.js';
import { submitTraining } from './training-submission.js';

export const forwardBackward: OperationHandler<'forwardBackward'> = (exchange) =>
  submitForward(exchange, exchange.request.forwardOnly ?? false);

export const forward: OperationHandler<'forward'> = (exchange) => submitForward(exchange, true);

function submitForward(exchange: Exchange<'forwardBackward'> | Exchange<'forward'>, isForwardOnly: boolean): ServerReply {
  const { context, tenant, request } = exchange;
  const model = modelOf(exchange as Exchange, request.modelId);
  const { data, lossFn, lossFnConfig } = request;
  return submitTraining(exchange as Exchange, {
    model,
    seqId: request.seqId,
    requestType: isForwardOnly ? 'Forward' : 'ForwardBackward',
    run: async (engine): Promise<ForwardBackwardOutput> => {
      const output = await engine.forward({ data, lossFn, lossFnConfig }, { backward: !isForwardOnly });
      const amount = data.reduce((sum, { modelInput }) => sum + modelInput.length, 0);
      tenant.addUsage('training', amount, context.clock.now(), model.sessionId, model.baseModel);
      return output;
    },
  });
}

export const optimStep: OperationHandler<'optimStep'> = (exchange) => {
  const { request } = exchange;
  const model = modelOf(exchange as Exchange, request.modelId);
  const params: AdamParams = request.adamParams ?? {};
  return submitTraining(exchange as Exchange, {
    model,
    seqId: request.seqId,
    requestType: 'OptimStep',
    run: async (engine) => {
      const { metrics } = await engine.optimStep(params);
      exchange.context.changed();
      return { metrics };
    },
  });
};
