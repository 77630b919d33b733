import type { AdamParams, DimuonParams, ForwardBackwardOutput } from '@tinkex/types';
import type { OptimStepRequest } from '@tinkex/types/wire';
import { refuse, type ServerReply } from '../requests/message.js';
import type { RequestContext, RouteHandler } from '../requests/request-context.js';
import type { ModelRecord } from '../state/records.js';
import { customLossOf } from './custom-losses.js';
import { modelOf } from './lookup.js';
import { familyName } from './models.js';
import { checkProvenance } from './provenance.js';
import { submitTraining } from './training-submission.js';

export const forwardBackward: RouteHandler<'forwardBackward'> = (context) => submitForward(context, context.request.forwardOnly ?? false);

export const forward: RouteHandler<'forward'> = (context) => submitForward(context, true);

function submitForward(context: RequestContext<'forwardBackward'> | RequestContext<'forward'>, isForwardOnly: boolean): ServerReply {
  const { server, tenant, request } = context;
  const model = modelOf(context, request.modelId);
  const { data, lossFn, lossFnConfig } = request;
  requireLoss(context, lossFn);
  checkProvenance(context, data, model.sessionId);
  const customLoss = lossFn === 'custom' ? customLossOf(context, model.sessionId, lossFnConfig) : undefined;
  return submitTraining(context, {
    model,
    seqId: request.seqId,
    requestType: isForwardOnly ? 'Forward' : 'ForwardBackward',
    changesEngine: !isForwardOnly,
    run: async (engine): Promise<ForwardBackwardOutput> => {
      const output = await engine.forward({ data, lossFn, lossFnConfig, customLoss }, { backward: !isForwardOnly });
      const amount = data.reduce((sum, { modelInput }) => sum + modelInput.length, 0);
      tenant.addUsage('training', amount, server.clock.wallMs(), model.sessionId, model.baseModel);
      return output;
    },
  });
}

/** Answers 400 for a loss that the engine does not compute: replacing it would train something else. */
function requireLoss({ server }: RequestContext<'forwardBackward'> | RequestContext<'forward'>, lossFn: string): void {
  const { lossFunctions } = server.engine;
  if (lossFunctions === undefined || lossFunctions.includes(lossFn)) return;
  refuse(400, `The loss function ${JSON.stringify(lossFn)} is not supported; choose one of ${lossFunctions.join(', ')}`);
}

export const optimStep: RouteHandler<'optimStep'> = (context) => {
  const { request } = context;
  const model = modelOf(context, request.modelId);
  const params = stepParams(context, model);
  return submitTraining(context, {
    model,
    seqId: request.seqId,
    requestType: 'OptimStep',
    changesEngine: true,
    run: async (engine) => {
      const { metrics } = await engine.optimStep(params);
      return { metrics };
    },
  });
};

/** The settings of the step. Answers 400 when they belong to another optimizer than the model's: falling back to defaults would train with it silently. */
function stepParams(context: RequestContext<'optimStep'>, { modelId, optimizer }: ModelRecord): AdamParams | DimuonParams {
  const { adamParams = {}, optimizerParams }: OptimStepRequest = context.request;
  const given = optimizerParams === undefined ? 'adamw' : familyName(optimizerParams);
  if (given !== familyName(optimizer)) {
    const text = `the step has settings of ${given}, but ${modelId} is trained with ${familyName(optimizer)}`;
    context.reject(400, 'optimizer-mismatch', text);
  }
  return optimizerParams?.type === 'dimuon' ? optimizerParams : adamParams;
}
