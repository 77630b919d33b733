import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigurationError } from '@tinkex/types';
import { ADAPTER_CONFIG, ADAPTER_WEIGHTS, type AdapterFiles, factorName, openAdapter } from './adapter-files.js';
import { type AdapterPiece, type FactorMatrix, piecesOf, readMatrix } from './adapter-pieces.js';
import { type AdapterSourceOptions, withAdapterFolder } from './adapter-source.js';
import { type BaseLayout, readBaseLayout } from './base-layout.js';
import { closing } from './closing.js';
import { type HubOptions, hubBaseLayout } from './hub-layout.js';
import { writeNewFolder } from './new-folder.js';
import { type JoinedRows, joinRows } from './row-groups.js';
import { type TensorToWrite, writeSafetensors } from './safetensors/safetensors-writer.js';
import { modelPaths, type WeightFamily, weightFamily } from './weight-family.js';
import { weightsError } from './weights-error.js';

/** Options of {@link exportPeft}. */
export interface ExportPeftOptions extends AdapterSourceOptions {
  /** The base model's name on the hub. Default: what the adapter says. */
  readonly baseModel?: string | undefined;
  /**
   * How the base model calls its weights: a folder with `config.json` and its safetensors files, or a layout. Default: the headers of its files on the
   * hub, a few kilobytes.
   */
  readonly base?: string | BaseLayout | undefined;
  /** How to reach the hub. */
  readonly hub?: HubOptions | undefined;
}

/** An adapter that was exported. */
export interface ExportedAdapter {
  readonly directory: string;
  /** The modules that it changes, by the last part of their names. */
  readonly targetModules: readonly string[];
  readonly tensorCount: number;
}

/**
 * Writes an adapter in the format of Python's `peft`, which `transformers`, vLLM and SGLang load: `adapter_model.safetensors` and `adapter_config.json`.
 * Tensors are copied one at a time, without a change of type.
 *
 * @param path - A checkpoint (`tinker://…/sampler_weights/final`), or the folder of a downloaded one.
 * @param directory - Where the adapter goes. Must not exist; it appears complete or not at all.
 * @throws ValidationError when the adapter does not fit, or when servers cannot load adapters of this family.
 */
export async function exportPeft(path: string, directory: string, options: ExportPeftOptions = {}): Promise<ExportedAdapter> {
  return await withAdapterFolder(path, directory, options, (folder) =>
    closing(openAdapter(folder), (adapter) => writePeft(adapter, path, directory, options)),
  );
}

async function writePeft(adapter: AdapterFiles, path: string, directory: string, options: ExportPeftOptions): Promise<ExportedAdapter> {
  const baseModel = options.baseModel ?? adapter.baseModel;
  if (baseModel === undefined) throw new ConfigurationError({ option: 'baseModel', message: 'The adapter does not name its base model.' });
  const layout = await layoutFor(baseModel, options);
  const family = weightFamily(layout);
  if (family.noAdapter !== undefined) throw weightsError(baseModel, family.noAdapter);
  const { pieces, joined } = await planExport(adapter, family, layout);
  if (pieces.length + joined.length === 0) throw weightsError(path, 'there are no LoRA weights in this adapter.');
  const tensors = [...pieces.flatMap((piece) => pieceTensors(adapter, piece)), ...joined.flatMap(({ tensors: own }) => own)];
  const targetModules = [...new Set([...pieces, ...joined].map((each) => leafOf(each.path)))].sort();
  await writeNewFolder(directory, async (target) => {
    await writeSafetensors(join(target, ADAPTER_WEIGHTS), tensors, { signal: options.signal });
    const config = peftConfig(adapter, baseModel, targetModules, joined);
    await writeFile(join(target, ADAPTER_CONFIG), `${JSON.stringify(config, null, 2)}\n`);
  });
  return { directory, targetModules, tensorCount: tensors.length };
}

async function layoutFor(baseModel: string, { base, hub, signal }: ExportPeftOptions): Promise<BaseLayout> {
  if (typeof base === 'string') return await readBaseLayout(base);
  return base ?? (await hubBaseLayout(baseModel, { ...hub, signal }));
}

async function planExport(
  adapter: AdapterFiles,
  family: WeightFamily,
  layout: BaseLayout,
): Promise<{ readonly pieces: readonly AdapterPiece[]; readonly joined: readonly JoinedRows[] }> {
  const toPath = modelPaths(family, layout);
  const all = adapter.modules.flatMap((module) => piecesOf(module, toPath(module.path), family));
  const { apart, joined } = await joinRows(adapter.weights, all, family, layout);
  const seen = new Set<string>();
  for (const { path } of [...apart, ...joined]) {
    if (seen.has(path)) throw weightsError(path, 'two modules of the adapter are the same module of the model.');
    seen.add(path);
  }
  return { pieces: apart, joined };
}

function pieceTensors(adapter: AdapterFiles, { path, a, b }: AdapterPiece): TensorToWrite[] {
  const factors: ['A' | 'B', FactorMatrix][] = [
    ['A', a],
    ['B', b],
  ];
  return factors.map(([factor, matrix]) => ({
    name: factorName(path, factor),
    dtype: matrix.tensor.dtype,
    shape: [matrix.rows, matrix.columns],
    bytes: () => readMatrix(adapter.weights, matrix),
  }));
}

function peftConfig(
  { rank, alpha }: AdapterFiles,
  baseModel: string,
  targetModules: readonly string[],
  joined: readonly JoinedRows[],
): Record<string, unknown> {
  const ranks = Object.fromEntries(joined.map((each) => [leafOf(each.path), each.rank]));
  return {
    peft_type: 'LORA',
    auto_mapping: null,
    base_model_name_or_path: baseModel,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    lora_alpha: alpha,
    lora_dropout: 0,
    modules_to_save: null,
    r: rank,
    // Joined modules have a higher rank; alpha grows with it, because a module's strength is alpha / rank.
    rank_pattern: ranks,
    alpha_pattern: Object.fromEntries(Object.entries(ranks).map(([name, own]) => [name, Math.trunc((alpha * own) / rank)])),
    target_modules: targetModules,
    task_type: 'CAUSAL_LM',
  };
}

function leafOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}
