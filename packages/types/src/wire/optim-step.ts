import { codecOf } from './codec.js';
import { mapOf } from './collections.js';
import { requestType, responseObject } from './objects.js';
import { type OptimizerParams, optimizerParamsType } from './optimizers.js';
import { integer, number, text } from './scalars.js';
import { optional } from './wire-type.js';

/** The optimizer's settings (AdamW with decoupled weight decay). */
export interface AdamParams {
  /** Default 1e-4. */
  readonly learningRate?: number | undefined;
  /** Default 0.9. */
  readonly beta1?: number | undefined;
  /** Default 0.95. */
  readonly beta2?: number | undefined;
  /** Default 1e-12. */
  readonly eps?: number | undefined;
  /** Default 0. */
  readonly weightDecay?: number | undefined;
  /** 0: no clipping. Default 0. */
  readonly gradClipNorm?: number | undefined;
}

/** {@link AdamParams} in which every default is filled in. */
export type ResolvedAdamParams = { readonly [K in keyof AdamParams]-?: number };

/** The optimizer's settings when none are given. */
export const DEFAULT_ADAM_PARAMS: ResolvedAdamParams = Object.freeze({
  learningRate: 1e-4,
  beta1: 0.9,
  beta2: 0.95,
  eps: 1e-12,
  weightDecay: 0,
  gradClipNorm: 0,
});

const setting = (name: keyof AdamParams) => optional(number({ min: 0 }), { fallback: () => DEFAULT_ADAM_PARAMS[name] });

const adamParamsType = requestType<AdamParams>({
  learningRate: setting('learningRate'),
  beta1: setting('beta1'),
  beta2: setting('beta2'),
  eps: setting('eps'),
  weightDecay: setting('weightDecay'),
  gradClipNorm: setting('gradClipNorm'),
});

/** {@link AdamParams} on the wire. */
export const adamParams = codecOf<AdamParams>('AdamParams', adamParamsType, { direction: 'request', isLenient: false });

/** Applies the accumulated gradients. Answered by a future of an {@link OptimStepResponse}. */
export interface OptimStepRequest {
  /** Default: all defaults, unless `optimizerParams` is set. */
  readonly adamParams?: AdamParams | undefined;
  readonly optimizerParams?: OptimizerParams | undefined;
  readonly modelId: string;
  /** From 1 up. */
  readonly seqId?: number | undefined;
}

const stepType = requestType<OptimStepRequest>(
  {
    adamParams: optional(adamParamsType),
    optimizerParams: optional(optimizerParamsType),
    modelId: text(),
    seqId: optional(integer({ min: 1 })),
  },
  {
    tag: 'optim_step',
    check: ({ adamParams: adam, optimizerParams }) =>
      adam === undefined || optimizerParams === undefined
        ? undefined
        : { field: 'optimizerParams', message: 'must not be set together with adamParams: a model has one optimizer' },
  },
);

/** Only a step without any settings is one of AdamW: the defaults must not replace the settings of another optimizer. */
function withDefaultSettings(request: OptimStepRequest): OptimStepRequest {
  if (typeof request !== 'object' || request === null) return request;
  const hasSettings = request.adamParams !== undefined || request.optimizerParams !== undefined;
  return hasSettings ? request : { ...request, adamParams: DEFAULT_ADAM_PARAMS };
}

/** {@link OptimStepRequest} on the wire. */
export const optimStepRequest = codecOf<OptimStepRequest>(
  'OptimStepRequest',
  {
    ...stepType,
    toWire: (value) => stepType.toWire(withDefaultSettings(value)),
    fromWire: (wire) => withDefaultSettings(stepType.fromWire(wire)),
  },
  { direction: 'request', isLenient: false },
);

/** The optimizer has stepped. */
export interface OptimStepResponse {
  readonly metrics?: Readonly<Record<string, number>> | undefined;
}

/** {@link OptimStepResponse} on the wire. */
export const optimStepResponse = responseObject<OptimStepResponse>('OptimStepResponse', {
  metrics: optional(mapOf(number())),
});
