import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type AdapterFiles, openAdapter } from './adapter-files.js';
import { type AdapterSourceOptions, withAdapterFolder } from './adapter-source.js';
import { readBaseLayout, weightFiles } from './base-layout.js';
import { closing } from './closing.js';
import { addLowRank, readFactors } from './low-rank.js';
import { planMerge } from './merge-plan.js';
import { type MergeTarget, mergeTarget } from './merge-target.js';
import { writeNewFolder } from './new-folder.js';
import { openSafetensors, type SafetensorsReader } from './safetensors/safetensors-reader.js';
import { type TensorToWrite, writeSafetensors } from './safetensors/safetensors-writer.js';

/** Options of {@link mergeAdapter}. */
export interface MergeAdapterOptions extends AdapterSourceOptions {
  /** A folder with the base model: `config.json`, safetensors files, tokenizer. */
  readonly base: string;
}

/** A model that was merged. */
export interface MergedModel {
  readonly directory: string;
  /** The weights that the adapter changed, by their names in the base model. */
  readonly changedWeights: readonly string[];
}

/** Copied beside the weights: configuration, tokenizer, template and code files, licenses. */
const COPIED = /\.(json|txt|model|tiktoken|jinja|py|md)$|^LICENSE/;

/**
 * Adds an adapter to its base model: `W + alpha / rank * B * A`, computed in float32 and rounded back to the type of the weight. Works file by file and
 * keeps one weight in memory. Int4 (`pack-quantized`) and mxfp4 weights are dequantized, changed and quantized again.
 *
 * @param path - A checkpoint, or the folder of a downloaded one.
 * @param directory - Where the model goes. Must not exist; it appears complete or not at all.
 * @throws ValidationError when the adapter has a module that the model lacks, or when shapes do not fit. Then nothing is written.
 */
export async function mergeAdapter(path: string, directory: string, options: MergeAdapterOptions): Promise<MergedModel> {
  return await withAdapterFolder(path, directory, options, (folder) =>
    closing(openAdapter(folder), (adapter) => writeMerged(adapter, directory, options)),
  );
}

async function writeMerged(adapter: AdapterFiles, directory: string, options: MergeAdapterOptions): Promise<MergedModel> {
  const layout = await readBaseLayout(options.base);
  const targets = await Promise.all((await planMerge(adapter, layout)).map(async (plan) => mergeTarget(plan, layout)));
  await writeNewFolder(directory, async (result) => {
    for (const name of await readdir(options.base)) if (COPIED.test(name)) await copyFile(join(options.base, name), join(result, name));
    for (const name of await weightFiles(options.base)) {
      const write = (file: SafetensorsReader): Promise<void> => mergeFile(adapter, targets, file, join(result, name), options.signal);
      await closing(openSafetensors(join(options.base, name)), write);
    }
  });
  return { directory, changedWeights: targets.map(({ name }) => name).sort() };
}

async function mergeFile(
  adapter: AdapterFiles,
  targets: readonly MergeTarget[],
  file: SafetensorsReader,
  result: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  // A quantized weight is several tensors that change together.
  const changed = new Map<string, () => Promise<Uint8Array>>();
  for (const target of targets) {
    if (!file.tensors.has(target.tensors[0] as string)) continue;
    const take = keepUntilTaken(target.tensors.length, () => mergeWeight(adapter, target, file));
    for (const tensor of target.tensors) changed.set(tensor, async () => (await take()).get(tensor) as Uint8Array);
  }
  const tensors: TensorToWrite[] = [...file.tensors.values()].map(({ name: tensor, dtype, shape }) => ({
    name: tensor,
    dtype,
    shape,
    bytes: changed.get(tensor) ?? (() => file.stream(tensor)),
  }));
  await writeSafetensors(result, tensors, { metadata: file.metadata, signal });
}

async function mergeWeight(adapter: AdapterFiles, target: MergeTarget, file: SafetensorsReader): Promise<ReadonlyMap<string, Uint8Array>> {
  const values = await target.decode(file);
  for (const change of target.changes)
    addLowRank(values, await readFactors(adapter.weights, change), change.place, adapter.alpha / adapter.rank);
  return target.encode(values, file);
}

/** Computes a value when it is first asked for, and forgets it when it was taken `count` times. */
function keepUntilTaken<Value>(count: number, compute: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | undefined;
  let left = count;
  return () => {
    const taken = value ?? compute();
    left--;
    value = left > 0 ? taken : undefined;
    return taken;
  };
}
