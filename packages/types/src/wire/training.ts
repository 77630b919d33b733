import { describe, HIDDEN } from '../errors/issue-text.js';
import { invalidRequest, ValidationError } from '../errors/validation-error.js';
import { isPlainObject } from '../json/json-value.js';
import type { Datum } from '../training/datum.js';
import type { ForwardBackwardOutput, ForwardBackwardRequest } from '../training/forward-backward.js';
import { lossInputDomainName, lossInputWireName } from '../training/loss-fn-inputs.js';
import { codecOf } from './codec.js';
import { list, mapOf } from './collections.js';
import { modelInputType } from './model-input.js';
import { requestObject, requestType, responseObject } from './objects.js';
import { integer, number, oneOf, text } from './scalars.js';
import { tensor } from './tensor.js';
import { filled, optional, type WireType } from './wire-type.js';

const tensorsByName = mapOf(tensor({ isResponse: false }));

/** Documented inputs are fields and renamed; other names are data. */
const lossFnInputs: WireType<Datum['lossFnInputs']> = {
  schema: tensorsByName.schema,
  toWire: (value) => tensorsByName.toWire(rename(value, lossInputWireName)),
  fromWire: (wire) => rename(tensorsByName.fromWire(wire), lossInputDomainName),
  child: (key) => ({ ...tensorsByName.child?.(key), name: lossInputDomainName(String(key)) }),
};

function rename<T>(values: Readonly<Record<string, T | undefined>>, name: (key: string) => string): Record<string, T> {
  const given = Object.entries(values ?? {}).filter((entry): entry is [string, T] => entry[1] !== undefined);
  return Object.fromEntries(given.map(([key, value]) => [name(key), value]));
}

const datumType = requestType<Datum>({ modelInput: modelInputType, lossFnInputs: filled(lossFnInputs, () => ({})) });

interface PassInput {
  readonly data: readonly Datum[];
  readonly lossFn: string;
  readonly lossFnConfig?: Readonly<Record<string, number>> | undefined;
}

const passInput = requestType<PassInput>({
  data: list(datumType, { min: 1 }),
  lossFn: text({ isNonEmpty: true }),
  lossFnConfig: optional(mapOf(number())),
});

interface Pass {
  readonly modelId: string;
  readonly seqId?: number | undefined;
  readonly forwardBackwardInput?: PassInput | undefined;
  readonly forwardInput?: PassInput | undefined;
  readonly type?: 'forward_backward' | 'forward' | undefined;
}

const pass = requestType<Pass>(
  {
    modelId: text(),
    seqId: optional(integer({ min: 1, max: 2147483647 })),
    forwardBackwardInput: optional(passInput),
    forwardInput: optional(passInput),
    type: optional(oneOf('forward_backward', 'forward')),
  },
  {
    check({ forwardBackwardInput, forwardInput, type }) {
      if ((forwardBackwardInput === undefined) === (forwardInput === undefined)) {
        return { field: 'forwardBackwardInput', message: 'is required (or forward_input); exactly one of them' };
      }
      const tag = forwardInput === undefined ? 'forward_backward' : 'forward';
      return type === undefined || type === tag ? undefined : { field: 'type', message: `must be '${tag}'` };
    },
  },
);

/** On the wire the data are in a nested object, whose name says whether there is a backward pass. */
const forwardBackwardRequestType: WireType<ForwardBackwardRequest> = {
  schema: pass.schema,
  toWire(value) {
    if (typeof value !== 'object' || value === null) return value;
    const { data, lossFn, lossFnConfig, forwardOnly, ...rest } = value;
    if (forwardOnly !== undefined && typeof forwardOnly !== 'boolean')
      throw invalidRequest('', 'forwardOnly', `must be true or false, got ${describe(forwardOnly)}`);
    const isEmpty = isPlainObject(lossFnConfig) && Object.keys(lossFnConfig).length === 0;
    const input: PassInput = { data, lossFn, lossFnConfig: isEmpty ? undefined : lossFnConfig };
    try {
      return pass.toWire(
        forwardOnly === true
          ? { ...rest, forwardInput: input, type: 'forward' }
          : { ...rest, forwardBackwardInput: input, type: 'forward_backward' },
      );
    } catch (error) {
      if (!ValidationError.isInstance(error)) throw error;
      // The user's request has no such nested object.
      const issues = error.issues.map(({ path, message }) => ({ path: path.replace(/^forward(?:Backward)?Input\.?/, ''), message }));
      throw new ValidationError({ direction: 'request', issues });
    }
  },
  fromWire(wire) {
    const { modelId, seqId, forwardBackwardInput, forwardInput } = pass.fromWire(wire);
    // The check of `pass` has seen exactly one of the two.
    const { data, lossFn, lossFnConfig = {} } = (forwardBackwardInput ?? forwardInput) as PassInput;
    return {
      modelId,
      seqId,
      data,
      lossFn,
      // No settings and empty settings are the same in protobuf, so they are the same here.
      lossFnConfig: Object.keys(lossFnConfig).length === 0 ? undefined : lossFnConfig,
      forwardOnly: forwardInput !== undefined,
    };
  },
  child: (key) => {
    const child = pass.child?.(key) ?? { name: key };
    return key === 'forward_backward_input' || key === 'forward_input' ? { ...child, name: HIDDEN } : child;
  },
};

/** {@link ForwardBackwardRequest} as JSON, for `forward_backward` and, when `forwardOnly`, for `forward`. */
export const forwardBackwardRequest = codecOf<ForwardBackwardRequest>('ForwardBackwardRequest', forwardBackwardRequestType, {
  direction: 'request',
  isLenient: false,
});

/** {@link Datum} as JSON. */
export const datumCodec = codecOf<Datum>('Datum', datumType, { direction: 'request', isLenient: false });

/** {@link ForwardBackwardOutput} as JSON. */
export const forwardBackwardOutput = responseObject<ForwardBackwardOutput>('ForwardBackwardOutput', {
  lossFnOutputType: filled(text(), () => 'ArrayRecord'),
  lossFnOutputs: filled(list(mapOf(tensor({ isResponse: true }))), () => []),
  metrics: filled(mapOf(number()), () => ({})),
});

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
  /** Default: all defaults. */
  readonly adamParams?: AdamParams | undefined;
  readonly modelId: string;
  /** From 1 up. */
  readonly seqId?: number | undefined;
}

/** {@link OptimStepRequest} on the wire. */
export const optimStepRequest = requestObject<OptimStepRequest>(
  'OptimStepRequest',
  {
    adamParams: optional(adamParamsType, { fallback: () => DEFAULT_ADAM_PARAMS }),
    modelId: text(),
    seqId: optional(integer({ min: 1 })),
  },
  { tag: 'optim_step' },
);

/** The optimizer has stepped. */
export interface OptimStepResponse {
  readonly metrics?: Readonly<Record<string, number>> | undefined;
}

/** {@link OptimStepResponse} on the wire. */
export const optimStepResponse = responseObject<OptimStepResponse>('OptimStepResponse', {
  metrics: optional(mapOf(number())),
});
