import { describe, expected, HIDDEN } from '../errors/issue-text.js';
import { invalidRequest, ValidationError } from '../errors/validation-error.js';
import { isPlainObject } from '../json/json-value.js';
import type { Datum } from '../training/datum.js';
import type { ForwardBackwardOutput, ForwardBackwardRequest, LossFnConfig } from '../training/forward-backward.js';
import { lossInputDomainName, lossInputWireName } from '../training/loss-fn-inputs.js';
import { type ProvenanceSpan, provenanceIssues } from '../training/provenance.js';
import { codecOf } from './codec.js';
import { list, mapOf } from './collections.js';
import { modelInputType } from './model-input.js';
import { requestType, responseObject } from './objects.js';
import { integer, number, oneOf, text } from './scalars.js';
import { checked, prepared } from './schema.js';
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

const span = requestType<ProvenanceSpan>({
  kind: oneOf('prompt', 'sampled'),
  sequenceId: text({ isNonEmpty: true }),
  offset: optional(integer({ min: 0 }), { fallback: () => 0 }),
  length: integer({ min: 0 }),
});

/** A datum as it stands on the wire, where provenance is two lists. */
interface FlatDatum extends Omit<Datum, 'provenance'> {
  readonly modelInputSpans?: readonly ProvenanceSpan[] | undefined;
  readonly lossFnInputSpans?: readonly ProvenanceSpan[] | undefined;
}

const flatDatum = requestType<FlatDatum>(
  {
    modelInput: modelInputType,
    lossFnInputs: filled(lossFnInputs, () => ({})),
    modelInputSpans: optional(list(span)),
    lossFnInputSpans: optional(list(span)),
  },
  {
    check: ({ modelInputSpans, lossFnInputSpans }) =>
      (modelInputSpans === undefined) === (lossFnInputSpans === undefined)
        ? undefined
        : { field: 'lossFnInputSpans', message: 'must be set together with model_input_spans' },
  },
);

const datumType: WireType<Datum> = {
  schema: flatDatum.schema,
  toWire(value) {
    if (typeof value !== 'object' || value === null) return value;
    const { provenance, ...rest } = value;
    if (provenance === undefined) return flatDatum.toWire(rest);
    const issues = provenanceIssues(provenance);
    if (issues.length > 0) throw new ValidationError({ direction: 'request', issues });
    return flatDatum.toWire({ ...rest, modelInputSpans: provenance.modelInput, lossFnInputSpans: provenance.targetTokens });
  },
  fromWire(wire) {
    const { modelInputSpans, lossFnInputSpans, ...rest } = flatDatum.fromWire(wire);
    if (modelInputSpans === undefined || lossFnInputSpans === undefined) return rest;
    return { ...rest, provenance: { modelInput: modelInputSpans, targetTokens: lossFnInputSpans } };
  },
  child: flatDatum.child,
};

/** A setting of a loss function. True and false become 1 and 0, as in protobuf. */
const lossFnSetting: WireType<number | string | boolean> = {
  schema: () => {
    const isSetting = (value: unknown) => Number.isFinite(value) || typeof value === 'string' || typeof value === 'boolean';
    const setting = checked(isSetting, expected('a finite number, text, true or false'));
    return prepared((value) => (typeof value === 'bigint' ? Number(value) : value), setting);
  },
  toWire: numberOfFlag,
  fromWire: (wire) => numberOfFlag(wire as number | string | boolean),
};

function numberOfFlag(value: number | string | boolean): number | string {
  return typeof value === 'boolean' ? Number(value) : value;
}

interface PassInput {
  readonly data: readonly Datum[];
  readonly lossFn: string;
  readonly lossFnConfig?: LossFnConfig | undefined;
}

const passInput = requestType<PassInput>({
  data: list(datumType, { min: 1 }),
  lossFn: text({ isNonEmpty: true }),
  lossFnConfig: optional(mapOf(lossFnSetting)),
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
