import { describe, expected } from '../errors/issue-text.js';
import { invalidRequest } from '../errors/validation-error.js';
import { isPlainObject, type JsonObject, jsonProblem } from '../json/json-value.js';
import { codecOf } from './codec.js';
import { requestType } from './objects.js';
import { number } from './scalars.js';
import { anyValue, type FoundIssue, literal, objectOf, optionalValue, passes, type Schema } from './schema.js';
import { optional, type WireType } from './wire-type.js';

/** AdamW with decoupled weight decay, the default. */
export interface AdamWOptimizerConfig {
  readonly type: 'adamw';
}

/** Dimuon. */
export interface DimuonOptimizerConfig {
  readonly type: 'dimuon';
  /** Default 1. */
  readonly version?: 1 | undefined;
}

/** An optimizer that this version does not know. */
export interface OtherOptimizerConfig {
  readonly type: 'other';
  /** As it stands on the wire; its `type` names the family. */
  readonly raw: JsonObject;
}

/** The optimizer of a model, chosen when the model is created. */
export type OptimizerConfig = AdamWOptimizerConfig | DimuonOptimizerConfig | OtherOptimizerConfig;

/** A kind of optimizer. */
export type OptimizerFamily = OptimizerConfig['type'];

/** The optimizer of a model that names none. */
export const DEFAULT_OPTIMIZER: OptimizerConfig = Object.freeze({ type: 'adamw' });

type Known = Exclude<OptimizerConfig, OtherOptimizerConfig>;

/** The wire form of each known family. Strict in requests: a field that the family lacks is a mistake. */
const CONFIG_SCHEMAS: Readonly<Record<Known['type'], Schema>> = {
  adamw: objectOf({ type: { schema: anyValue, isOptional: false } }, true),
  dimuon: objectOf(
    {
      type: { schema: anyValue, isOptional: false },
      version: { schema: optionalValue(literal(1, expected('1'))), isOptional: true },
    },
    true,
  ),
};

/**
 * An optimizer configuration. Families that this version does not know pass in both directions. `isResponse`: a known family of another
 * shape, such as a later version, is kept like an unknown family.
 */
export function optimizerConfig({ isResponse }: { readonly isResponse: boolean }): WireType<OptimizerConfig> {
  const knownSchema = (type: string) => (isKnown(type) ? CONFIG_SCHEMAS[type] : undefined);
  return {
    schema: () => (wire, issues) => {
      const type = typeOfObject(wire, issues);
      if (type !== undefined && !isResponse) knownSchema(type)?.(wire, issues);
      return wire;
    },
    toWire: optimizerToWire,
    fromWire(wire) {
      const raw = wire as JsonObject;
      const known = knownSchema(raw.type as string);
      if (known === undefined || !passes(known, raw)) return { type: 'other', raw };
      return raw.type === 'adamw' ? { type: 'adamw' } : { type: 'dimuon', version: 1 };
    },
  };
}

function optimizerToWire(value: OptimizerConfig): unknown {
  if (!isPlainObject(value)) return value;
  if (value.type === 'other') return value.raw;
  if (!isKnown(value.type)) throw unknownFamily(value.type);
  return value.type === 'dimuon' ? { ...value, version: value.version ?? 1 } : value;
}

/** What this version does not know is written as it stands on the wire, so that a misspelled name is not sent. */
function unknownFamily(type: unknown): Error {
  return invalidRequest('', 'type', `must be 'adamw', 'dimuon' or 'other' (with the wire form as raw), got ${describe(type)}`);
}

function isKnown(type: string): type is Known['type'] {
  return Object.hasOwn(CONFIG_SCHEMAS, type);
}

/** The `type` of a JSON object, or undefined with the issue that it has none. */
function typeOfObject(wire: unknown, issues: FoundIssue[]): string | undefined {
  const problem = isPlainObject(wire) ? jsonProblem(wire) : expected('an object with a type')({ input: wire });
  if (problem !== undefined) {
    issues.push({ path: [], message: problem });
    return undefined;
  }
  const { type } = wire as JsonObject;
  if (typeof type === 'string' && type !== '') return type;
  issues.push({ path: ['type'], message: expected('text that is not empty')({ input: type }) });
  return undefined;
}

/** The settings of one step with Dimuon. */
export interface DimuonParams {
  /** From 0 up. */
  readonly learningRate: number;
  /** Largest norm of the gradient; 0 or less: no clipping. Default 0. */
  readonly gradClipNorm?: number | undefined;
  /** How much of the momentum a step keeps, from 0 to below 1. Default 0.9. */
  readonly beta1?: number | undefined;
}

/** The settings of one step with an optimizer that this version does not know. */
export interface OtherOptimizerParams {
  readonly type: 'other';
  /** As it stands on the wire; its `type` names the family. */
  readonly raw: JsonObject;
}

/** The settings of one step with another optimizer than AdamW. */
export type OptimizerParams = (DimuonParams & { readonly type: 'dimuon' }) | OtherOptimizerParams;

const dimuonParamsType = requestType<DimuonParams>(
  {
    learningRate: number({ min: 0 }),
    gradClipNorm: optional(number(), { fallback: () => 0 }),
    beta1: optional(number({ min: 0 }), { fallback: () => 0.9 }),
  },
  {
    check: ({ beta1 = 0 }) => (beta1 < 1 ? undefined : { field: 'beta1', message: `must be below 1, got ${describe(beta1)}` }),
  },
);

/** {@link DimuonParams} on the wire, without their `type`. */
export const dimuonParams = codecOf<DimuonParams>('DimuonParams', dimuonParamsType, { direction: 'request', isLenient: false });

const ADAM_ELSEWHERE = 'must not be adamw here: the settings of AdamW are adamParams';

/** {@link OptimizerParams} on the wire. */
export const optimizerParamsType: WireType<OptimizerParams> = {
  schema: (isLenient) => {
    const dimuon = dimuonParamsType.schema(isLenient);
    return (wire, issues) => {
      const type = typeOfObject(wire, issues);
      if (type === 'adamw') issues.push({ path: ['type'], message: ADAM_ELSEWHERE });
      if (type !== 'dimuon') return wire;
      const { type: _, ...params } = wire as JsonObject;
      return { type, ...(dimuon(params, issues) as object) };
    };
  },
  toWire(value) {
    if (!isPlainObject(value)) return value;
    const { type, ...params } = value as OptimizerParams & { raw: JsonObject };
    if (type === 'other') return params.raw;
    if (type !== 'dimuon') throw unknownFamily(type);
    return { type, ...(dimuonParamsType.toWire(params as DimuonParams) as object) };
  },
  fromWire(wire) {
    const { type, ...params } = wire as JsonObject;
    return type === 'dimuon' ? { type, ...dimuonParamsType.fromWire(params) } : { type: 'other', raw: wire as JsonObject };
  },
  child: (key) => dimuonParamsType.child?.(key) ?? { name: key },
};
