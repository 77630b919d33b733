import { ADAPTER_MODULES, type AdapterModule, type AdapterShape, LORA_ALPHA, MODULE_SHAPES } from './adapter.js';
import { type CheckpointFiles, EngineUserError } from './engine.js';
import type { EngineOptimizer, OptimizerState } from './optimizer.js';
import { decodeSafetensors, encodeSafetensors, type NamedTensor } from './safetensors.js';

const CONFIG_FILE = 'adapter_config.json';
const WEIGHTS_FILE = 'adapter_model.safetensors';
const OPTIMIZER_FILE = 'optimizer.safetensors';
/** Written last: a folder without it is incomplete. */
const COMPLETE_FILE = 'checkpoint_complete';

/** The names in the file of what each optimizer remembers about a matrix. */
const MOMENT_NAMES: Readonly<Record<EngineOptimizer, Readonly<Record<string, string>>>> = {
  adamw: { first: 'exp_avg', second: 'exp_avg_sq' },
  dimuon: { momentum: 'momentum' },
};

/** The header of a checkpoint. */
export interface CheckpointHeader extends AdapterShape {
  readonly baseModel: string;
}

/** What a checkpoint consists of. */
export interface CheckpointContent extends CheckpointHeader {
  readonly weights: readonly NamedTensor[];
  /** The optimizer's state, and the tensor of one of its moments: `suffix` is its name in the file. */
  readonly optimizer?: OptimizerState | undefined;
  readonly momentOf: (matrix: string, values: Float32Array, suffix: string) => NamedTensor;
}

/** Writes an adapter, and the optimizer's state when one is given, in the layout of a PEFT adapter folder. Every number is kept exactly. */
export function writeFiles({ weights, optimizer, momentOf, ...header }: CheckpointContent): CheckpointFiles {
  const files = new Map<string, Uint8Array>();
  files.set(CONFIG_FILE, new TextEncoder().encode(`${JSON.stringify(configOf(header), null, 2)}\n`));
  files.set(WEIGHTS_FILE, encodeSafetensors({ tensors: weights, metadata: { format: 'pt' } }));
  if (optimizer !== undefined) {
    const { family, step, moments } = optimizer;
    const names = Object.entries(MOMENT_NAMES[family]);
    const tensors = [...moments].flatMap(([matrix, own]) =>
      names.map(([name, suffix]) => momentOf(matrix, own[name] as Float32Array, suffix)),
    );
    // A file that names no optimizer is one of AdamW.
    const metadata = { step: String(step), ...(family === 'adamw' ? {} : { optimizer: family }) };
    files.set(OPTIMIZER_FILE, encodeSafetensors({ tensors, metadata }));
  }
  files.set(COMPLETE_FILE, new Uint8Array());
  return files;
}

/** Reads the shape of a checkpoint's adapter. Throws {@link EngineUserError} when the files are not a checkpoint of this engine. */
export function readHeader(files: CheckpointFiles): CheckpointHeader {
  let config: unknown;
  try {
    config = JSON.parse(new TextDecoder().decode(requireFile(files, CONFIG_FILE)));
  } catch (cause) {
    if (cause instanceof EngineUserError) throw cause;
    throw new EngineUserError(`${CONFIG_FILE} of the checkpoint is not JSON.`, { cause });
  }
  const { base_model_name_or_path: baseModel, r: rank, target_modules: targets } = (config ?? {}) as Record<string, unknown>;
  if (typeof baseModel !== 'string' || !Number.isSafeInteger(rank) || !Array.isArray(targets)) {
    throw new EngineUserError(`${CONFIG_FILE} of the checkpoint lacks base_model_name_or_path, r or target_modules.`);
  }
  return { baseModel, rank: rank as number, modules: ADAPTER_MODULES.filter((module) => targets.includes(targetName(module))) };
}

/** Throws {@link EngineUserError} unless a checkpoint fits a model. */
export function requireFit(header: CheckpointHeader, own: CheckpointHeader): void {
  const [theirs, expected] = [describe(header), describe(own)];
  if (expected !== theirs) throw new EngineUserError(`The checkpoint does not fit: it holds ${theirs}, this model is ${expected}.`);
}

function describe({ baseModel, rank, modules }: CheckpointHeader): string {
  return `a rank ${rank} adapter (${modules.join(', ')}) of ${baseModel}`;
}

/** The weights in a checkpoint, by name. */
export function readWeights(files: CheckpointFiles): ReadonlyMap<string, NamedTensor> {
  return tensorsOf(files, WEIGHTS_FILE).byName;
}

/**
 * The optimizer's state in a checkpoint. Throws {@link EngineUserError} when there is none, or one of another optimizer.
 *
 * @param read - Gives what the file holds about a matrix under a suffix.
 */
export function readOptimizerState(
  files: CheckpointFiles,
  matrices: readonly string[],
  family: EngineOptimizer,
  read: (tensors: ReadonlyMap<string, NamedTensor>, matrix: string, suffix: string) => Float32Array,
): OptimizerState {
  const { byName, metadata } = tensorsOf(files, OPTIMIZER_FILE);
  const { step: stepText, optimizer: savedFamily = 'adamw' } = metadata;
  if (savedFamily !== family) {
    throw new EngineUserError(`The checkpoint holds the state of ${savedFamily}, but this model is trained with ${family}.`);
  }
  const step = Number(stepText);
  if (!Number.isSafeInteger(step) || step < 0) throw new EngineUserError(`${OPTIMIZER_FILE} of the checkpoint does not say its step.`);
  const names = Object.entries(MOMENT_NAMES[family]);
  const moments = matrices.map((matrix) => {
    const own = names.map(([name, suffix]) => [name, read(byName, matrix, suffix)] as const);
    return [matrix, Object.fromEntries(own)] as const;
  });
  return { family, step, moments: new Map(moments) };
}

/** A tensor of float32 with this name and shape. Throws {@link EngineUserError} otherwise. */
export function requireTensor(tensors: ReadonlyMap<string, NamedTensor>, name: string, shape: readonly number[]): Float32Array {
  const tensor = tensors.get(name);
  if (tensor === undefined) throw new EngineUserError(`The checkpoint has no tensor ${name}.`);
  if (tensor.shape.length !== shape.length || tensor.shape.some((size, dimension) => size !== shape[dimension])) {
    throw new EngineUserError(`Tensor ${name} of the checkpoint has shape [${tensor.shape.join(', ')}], expected [${shape.join(', ')}].`);
  }
  if (!(tensor.values instanceof Float32Array)) throw new EngineUserError(`Tensor ${name} of the checkpoint is not of float32.`);
  return tensor.values;
}

function configOf({ baseModel, rank, modules }: CheckpointHeader): Record<string, unknown> {
  return {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: baseModel,
    r: rank,
    lora_alpha: LORA_ALPHA,
    lora_dropout: 0,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    target_modules: modules.map(targetName),
  };
}

function targetName(module: AdapterModule): string {
  return MODULE_SHAPES[module].path.split('.').at(-1) as string;
}

function tensorsOf(files: CheckpointFiles, file: string): { byName: Map<string, NamedTensor>; metadata: Readonly<Record<string, string>> } {
  const { tensors, metadata } = decodeSafetensors(requireFile(files, file));
  return { byName: new Map(tensors.map((tensor) => [tensor.name, tensor])), metadata };
}

function requireFile(files: CheckpointFiles, name: string): Uint8Array {
  const content = files.get(name);
  if (content === undefined) {
    const hint = name === OPTIMIZER_FILE ? ' It was saved for sampling, without the optimizer state.' : '';
    throw new EngineUserError(`The checkpoint has no ${name}.${hint}`);
  }
  return content;
}
