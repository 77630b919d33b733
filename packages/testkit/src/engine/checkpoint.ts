import { ADAPTER_MODULES, type AdapterModule, type AdapterShape, LORA_ALPHA, LoraAdapter, MODULE_SHAPES } from './adapter.js';
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

/** Writes an adapter, and the optimizer's state when one is given, in the layout of a PEFT adapter folder. Every number is kept exactly. */
export function writeCheckpoint(baseModel: string, adapter: LoraAdapter, optimizer?: OptimizerState): CheckpointFiles {
  const files = new Map<string, Uint8Array>();
  files.set(CONFIG_FILE, new TextEncoder().encode(`${JSON.stringify(configOf(baseModel, adapter), null, 2)}\n`));
  const weights = adapter.matrices().map(({ name, values }) => tensorOf(name, adapter.rank, values, 'weight'));
  files.set(WEIGHTS_FILE, encodeSafetensors({ tensors: weights, metadata: { format: 'pt' } }));
  if (optimizer !== undefined) {
    const { family, step, moments } = optimizer;
    const names = Object.entries(MOMENT_NAMES[family]);
    const tensors = [...moments].flatMap(([matrix, own]) =>
      names.map(([name, suffix]) => tensorOf(matrix, adapter.rank, own[name] as Float32Array, suffix)),
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

/** The adapter in a checkpoint. Throws {@link EngineUserError} when a tensor is missing or misshapen. */
export function readAdapter(files: CheckpointFiles, shape: AdapterShape): LoraAdapter {
  const { byName } = tensorsOf(files, WEIGHTS_FILE);
  const adapter = new LoraAdapter(shape);
  for (const { name, values } of adapter.matrices()) values.set(matrixFrom(byName, name, shape.rank, 'weight'));
  return adapter;
}

/**
 * The optimizer's state in a checkpoint, for an adapter of this shape. Throws {@link EngineUserError} when there is none, or one of another
 * optimizer.
 */
export function readOptimizer(files: CheckpointFiles, adapter: LoraAdapter, family: EngineOptimizer): OptimizerState {
  const { byName, metadata } = tensorsOf(files, OPTIMIZER_FILE);
  const { step: stepText, optimizer: savedFamily = 'adamw' } = metadata;
  if (savedFamily !== family) {
    throw new EngineUserError(`The checkpoint holds the state of ${savedFamily}, but this model is trained with ${family}.`);
  }
  const step = Number(stepText);
  if (!Number.isSafeInteger(step) || step < 0) throw new EngineUserError(`${OPTIMIZER_FILE} of the checkpoint does not say its step.`);
  const names = Object.entries(MOMENT_NAMES[family]);
  const moments = adapter.matrices().map(({ name: matrix }) => {
    const own = names.map(([name, suffix]) => [name, matrixFrom(byName, matrix, adapter.rank, suffix)] as const);
    return [matrix, Object.fromEntries(own)] as const;
  });
  return { family, step, moments: new Map(moments) };
}

function configOf(baseModel: string, { rank, modules }: AdapterShape): Record<string, unknown> {
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

/** The name and shape of a matrix in the files: PEFT stores A as rank × inputs, the engine as inputs × rank. */
function place(matrixName: string, rank: number, suffix: string): { name: string; shape: [number, number]; isTransposed: boolean } {
  const [module, factor] = matrixName.split('.') as [AdapterModule, 'a' | 'b'];
  const { path, inputs, outputs } = MODULE_SHAPES[module];
  const isA = factor === 'a';
  return {
    name: `base_model.model.${path}.lora_${isA ? 'A' : 'B'}.${suffix}`,
    shape: isA ? [rank, inputs] : [outputs, rank],
    isTransposed: isA,
  };
}

function tensorOf(matrixName: string, rank: number, values: Float32Array, suffix: string): NamedTensor {
  const { name, shape, isTransposed } = place(matrixName, rank, suffix);
  return { name, shape, values: isTransposed ? transpose(values, shape[1], shape[0]) : values };
}

function matrixFrom(tensors: ReadonlyMap<string, NamedTensor>, matrixName: string, rank: number, suffix: string): Float32Array {
  const { name, shape, isTransposed } = place(matrixName, rank, suffix);
  const tensor = tensors.get(name);
  if (tensor === undefined) throw new EngineUserError(`The checkpoint has no tensor ${name}.`);
  if (tensor.shape.length !== 2 || tensor.shape[0] !== shape[0] || tensor.shape[1] !== shape[1]) {
    throw new EngineUserError(`Tensor ${name} of the checkpoint has shape [${tensor.shape.join(', ')}], expected [${shape.join(', ')}].`);
  }
  return isTransposed ? transpose(tensor.values, shape[0], shape[1]) : tensor.values;
}

function transpose(values: Float32Array, rows: number, columns: number): Float32Array {
  const result = new Float32Array(values.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) result[column * rows + row] = values[row * columns + column] as number;
  }
  return result;
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
