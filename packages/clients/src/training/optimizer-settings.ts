import {
  type AdamParams,
  type DimuonParams,
  type OptimizerConfig,
  type OptimizerFamily,
  type OtherOptimizerParams,
  ValidationError,
} from '@tinkex/types';
import { DEFAULT_ADAM_PARAMS, DEFAULT_OPTIMIZER, dimuonParams, type OptimStepRequest } from '@tinkex/types/wire';

/** What `optimStep` takes for a model that has this optimizer. */
export type OptimStepParams<Family extends OptimizerFamily = OptimizerFamily> = Family extends 'adamw'
  ? AdamParams
  : Family extends 'dimuon'
    ? DimuonParams
    : OtherOptimizerParams;

/** The optimizer that the options choose. */
export function optimizerOf({ optimizer = DEFAULT_OPTIMIZER }: { readonly optimizer?: OptimizerConfig | undefined }): OptimizerConfig {
  return optimizer;
}

/** The optimizer as a request names it. AdamW is what a server assumes, and older servers refuse the field, so it is left out. */
export function optimizerToSend(optimizer: OptimizerConfig | undefined): OptimizerConfig | undefined {
  return optimizer?.type === 'adamw' ? undefined : optimizer;
}

/**
 * The fields of a step's request that carry its settings.
 *
 * @throws `ValidationError` when the settings belong to another optimizer, or Dimuon or an unknown one cannot have them.
 */
export function stepSettings(
  optimizer: OptimizerConfig,
  params: OptimStepParams = {},
): Pick<OptimStepRequest, 'adamParams' | 'optimizerParams'> {
  const given = params as Readonly<Record<string, unknown>>;
  const tag = given['type'];
  if (optimizer.type === 'other') {
    const { type } = optimizer.raw;
    const { raw } = params as OtherOptimizerParams;
    if (tag === 'other' && raw?.['type'] === type) return { optimizerParams: { type: 'other', raw } };
    throw mismatch('type', optimizer, `{ type: 'other', raw: { type: '${String(type)}', … } }`);
  }
  if (tag !== undefined && tag !== optimizer.type) throw mismatch('type', optimizer, TAKES[optimizer.type]);
  // A schedule may keep one object and change it for the next step while this step still waits for its turn.
  const { type: _tag, ...settings } = given;
  if (optimizer.type === 'adamw') return { adamParams: settings };
  const foreign = Object.keys(settings).find((name) => settings[name] !== undefined && ADAM_ONLY.has(name));
  if (foreign !== undefined) throw mismatch(foreign, optimizer, TAKES.dimuon);
  const checked = settings as unknown as DimuonParams;
  dimuonParams.encode(checked);
  return { optimizerParams: { type: 'dimuon', ...checked } };
}

const TAKES = {
  adamw: `{ ${Object.keys(DEFAULT_ADAM_PARAMS).join(', ')} }`,
  dimuon: '{ learningRate, gradClipNorm, beta1 }',
} as const;

const ADAM_ONLY: ReadonlySet<string> = new Set(['beta2', 'eps', 'weightDecay']);

function mismatch(path: string, { type }: OptimizerConfig, takes: string): ValidationError {
  const message = `belongs to another optimizer: this model is trained with ${type === 'other' ? 'its own' : type}, whose step takes ${takes}`;
  return new ValidationError({ direction: 'request', subject: 'optimStep parameters', issues: [{ path, message }] });
}
