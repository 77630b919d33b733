import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { closing } from './closing.js';
import { openSafetensors } from './safetensors/safetensors-reader.js';
import { weightsError } from './weights-error.js';

/** What a base model's weights are called, and their shapes. Its values are not needed. */
export interface BaseLayout {
  /** The content of `config.json`. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The names of all weights. */
  readonly keys: ReadonlySet<string>;
  /** The shape of one weight. */
  shapeOf(key: string): Promise<readonly number[]>;
}

/** The layout of a model in a folder with `config.json` and safetensors files, of which only the headers are read. */
export async function readBaseLayout(directory: string): Promise<BaseLayout> {
  const shapes = new Map<string, readonly number[]>();
  for (const name of await weightFiles(directory)) {
    await closing(openSafetensors(join(directory, name)), async ({ tensors }) => {
      for (const { name: key, shape } of tensors.values()) shapes.set(key, shape);
    });
  }
  return layoutOf(await readConfig(directory), shapes);
}

/** A layout from the names and shapes of weights. */
export function layoutOf(config: Readonly<Record<string, unknown>>, shapes: ReadonlyMap<string, readonly number[]>): BaseLayout {
  return { config, keys: new Set(shapes.keys()), shapeOf: async (key) => shapes.get(key) ?? [] };
}

/** The safetensors files of a folder, in order. */
export async function weightFiles(directory: string): Promise<string[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.safetensors')).sort();
  if (names.length === 0) throw weightsError(directory, 'there is no safetensors file in this folder.');
  return names;
}

async function readConfig(directory: string): Promise<Record<string, unknown>> {
  const path = join(directory, 'config.json');
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  } catch (cause) {
    throw weightsError(path, 'the configuration of the base model cannot be read.', cause);
  }
}
