import type { AdamParams, ForwardBackwardOutput } from '@tinkex/types';
import type { ServerReply } from '../requests/message.js';
import type { RequestContext, RouteHandler } from '../requests/request-context.js';
import { customLossOf } from './custom-losses.js';
import { modelOf } from './lookup.js';
import { submitTraining } from './training-submission.js';

export const forwardBackward: RouteHandler<'forwardBackward'> = (context) => submitForward(context, context.request.forwardOnly ?? false);

export const forward: RouteHandler<'forward'> = (context) => submitForward(context, true);

function submitForward(context: RequestContext<'forwardBackward'> | RequestContext<'forward'>, isForwardOnly: boolean): ServerReply {
  const { server, tenant, request } = context;
  const model = modelOf(context, request.modelId);
  const { data, lossFn, lossFnConfig } = request;
  const customLoss = lossFn === 'custom' ? customLossOf(context, model.sessionId, lossFnConfig) : undefined;
  return submitTraining(context, {
    model,
    seqId: request.seqId,
    requestType: isForwardOnly ? 'Forward' : 'ForwardBackward',
    run: async (engine): Promise<ForwardBackwardOutput> => {
      const output = await engine.forward({ data, lossFn, lossFnConfig, customLoss }, { backward: !isForwardOnly });
      const amount = data.reduce((sum, { modelInput }) => sum + modelInput.length, 0);
      tenant.addUsage('training', amount, server.clock.now(), model.sessionId, model.baseModel);
      return output;
    },
  });
}

export const optimStep: RouteHandler<'optimStep'> = (context) => {
  const { request } = context;
  const model = modelOf(context, request.modelId);
  const params: AdamParams = request.adamParams ?? {};
  return submitTraining(context, {
    model,
    seqId: request.seqId,
    requestType: 'OptimStep',
    run: async (engine) => {
      const { metrics } = await engine.optimStep(params);
      context.server.changed();
      return { metrics };
    },
  });
};
