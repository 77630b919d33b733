import { describe, expect, it } from 'vitest';
import { ValidationError } from '../src/index.js';
import { createModelRequest, getInfoResponse, loadWeightsRequest, optimStepRequest } from '../src/wire.js';

describe('the settings of a step', () => {
  const step = { modelId: 'm', seqId: 1 };

  it('are the defaults of AdamW only when there are none at all', () => {
    expect(optimStepRequest.encode(step)).toHaveProperty('adam_params.learning_rate', 1e-4);
    const dimuon = optimStepRequest.encode({ ...step, optimizerParams: { type: 'dimuon', learningRate: 0.5 } });
    expect(dimuon).not.toHaveProperty('adam_params');
    expect(optimStepRequest.decode(dimuon)).not.toHaveProperty('adamParams');
    const other = optimStepRequest.decode({ model_id: 'm', optimizer_params: { type: 'brand_new' } });
    expect(other).toEqual({ modelId: 'm', optimizerParams: { type: 'other', raw: { type: 'brand_new' } } });
  });

  it.each([
    [{ adam_params: {}, optimizer_params: { type: 'dimuon', learning_rate: 1 } }, 'optimizer_params'],
    [{ optimizer_params: { type: 'adamw', learning_rate: 1 } }, 'optimizer_params.type'],
    [{ optimizer_params: { learning_rate: 1 } }, 'optimizer_params.type'],
    [{ optimizer_params: { type: 'dimuon', learning_rate: 1, beta1: 1 } }, 'optimizer_params.beta1'],
    [{ optimizer_params: 1 }, 'optimizer_params'],
  ])('refuses %j and names the field', (body, path) => {
    expect(pathsOf(() => optimStepRequest.decode({ model_id: 'm', ...body }))).toEqual([path]);
  });

  it('are refused in the names of the caller when they are sent', () => {
    const send = () => optimStepRequest.encode({ ...step, optimizerParams: { type: 'dimuon', learningRate: -1 } });
    expect(pathsOf(send)).toEqual(['optimizerParams.learningRate']);
  });
});

describe('the optimizer of a model', () => {
  const model = { sessionId: 's', modelSeqId: 0, baseModel: 'b' };

  it('is not sent when it is not chosen', () => {
    expect(createModelRequest.encode(model)).not.toHaveProperty('optimizer_config');
  });

  it.each([
    [{ type: 'adamw', version: 1 }, 'optimizerConfig.version'],
    [{ type: 'dimuon', version: 2 }, 'optimizerConfig.version'],
    [{ type: 'other', raw: { k: 1 } }, 'optimizerConfig.type'],
    [{ type: 'sgd' }, 'optimizerConfig.type'],
    ['dimuon', 'optimizerConfig'],
  ])('is refused as %j', (optimizerConfig, path) => {
    expect(pathsOf(() => createModelRequest.encode({ ...model, optimizerConfig: optimizerConfig as never }))).toEqual([path]);
  });

  it('is kept in answers when it is a later version of a known one', () => {
    const body = { model_id: 'm', model_data: {}, optimizer_config: { type: 'dimuon', version: 2 } };
    expect(getInfoResponse.decode(body).optimizerConfig).toEqual({ type: 'other', raw: { type: 'dimuon', version: 2 } });
  });

  it.each([
    { modelId: 'm', optimizer: false },
    { sessionId: 's', modelSeqId: 0, optimizer: true },
  ])('can be chosen only for a new model without the state of another: %j', (address) => {
    const body = { ...address, path: 'tinker://r/weights/x', optimizerConfig: { type: 'dimuon' } as const };
    expect(pathsOf(() => loadWeightsRequest.encode(body))).toEqual(['optimizerConfig']);
  });
});

function pathsOf(work: () => unknown): readonly string[] | undefined {
  try {
    work();
  } catch (error) {
    if (ValidationError.isInstance(error)) return error.issues.map(({ path }) => path);
    throw error;
  }
  return undefined;
}
