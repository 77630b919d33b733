import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TensorInfo } from './safetensors/dtype.js';
import { openSafetensors, type SafetensorsReader } from './safetensors/safetensors-reader.js';
import { weightsError } from './weights-error.js';

/** The file with an adapter's tensors. */
export const ADAPTER_WEIGHTS = 'adapter_model.safetensors';
/** The file that describes an adapter. */
export const ADAPTER_CONFIG = 'adapter_config.json';

const PREFIX = 'base_model.model.';
const KEY = /^(?:base_model\.model\.)?(.+)\.lora_(A|B)(?:\.default)?\.weight$/;

/** The two factors of one module: the weight gains `alpha / rank * B * A`. */
export interface AdapterModule {
  /** Tinker's path, such as `model.layers.0.self_attn.q_proj`. */
  readonly path: string;
  /** `[rank, in]`, or `[experts or 1, rank, in]`. */
  readonly a: TensorInfo;
  /** `[out, rank]`, or `[experts or 1, out, rank]`. */
  readonly b: TensorInfo;
}

/** An adapter that is open for reading. */
export interface AdapterFiles extends AsyncDisposable {
  readonly modules: readonly AdapterModule[];
  readonly rank: number;
  readonly alpha: number;
  /** What the adapter was trained on, if its configuration says so. */
  readonly baseModel?: string | undefined;
  readonly weights: SafetensorsReader;
}

/** Opens an adapter as the service gives it. Its configuration must have `r` and `lora_alpha`. */
export async function openAdapter(directory: string): Promise<AdapterFiles> {
  const configPath = join(directory, ADAPTER_CONFIG);
  const config = await readConfig(configPath);
  const { r: rank, lora_alpha: alpha, base_model_name_or_path: baseModel } = config;
  if (typeof rank !== 'number' || typeof alpha !== 'number') throw weightsError(configPath, 'r and lora_alpha must be numbers.');
  const weights = await openSafetensors(join(directory, ADAPTER_WEIGHTS));
  try {
    return {
      modules: modulesOf(join(directory, ADAPTER_WEIGHTS), weights),
      rank,
      alpha,
      baseModel: typeof baseModel === 'string' ? baseModel : undefined,
      weights,
      [Symbol.asyncDispose]: () => weights[Symbol.asyncDispose](),
    };
  } catch (error) {
    await weights[Symbol.asyncDispose]();
    throw error;
  }
}

/** The name of a factor in an adapter. */
export function factorName(path: string, factor: 'A' | 'B'): string {
  return `${PREFIX}${path}.lora_${factor}.weight`;
}

async function readConfig(path: string): Promise<Record<string, unknown>> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  } catch (cause) {
    throw weightsError(path, 'the configuration of the adapter cannot be read.', cause);
  }
}

function modulesOf(file: string, { tensors }: SafetensorsReader): AdapterModule[] {
  const factors = new Map<string, Partial<Record<'A' | 'B', TensorInfo>>>();
  for (const tensor of tensors.values()) {
    const [, path, factor] = KEY.exec(tensor.name) ?? [];
    if (path !== undefined) factors.set(path, { ...factors.get(path), [factor as 'A' | 'B']: tensor });
  }
  return [...factors].flatMap(([path, { A: a, B: b }]) => {
    if (a === undefined || b === undefined) throw weightsError(file, `${path} has only one of its two factors.`);
    if (a.shape.includes(0) && b.shape.includes(0)) return [];
    const isPair = a.shape.length === b.shape.length && a.shape.at(-2) === b.shape.at(-1) && (a.shape.length === 2 || a.shape.length === 3);
    if (!isPair) throw weightsError(file, `the factors of ${path} do not fit: A is [${a.shape.join(', ')}], B is [${b.shape.join(', ')}].`);
    return [{ path, a, b }];
  });
}
