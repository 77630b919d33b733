import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSafetensors, writeSafetensors } from '@tinkex/cookbook';

/** A tensor as the vectors write it. */
export interface VectorTensor {
  readonly shape: readonly number[];
  readonly data: readonly number[];
}

/** Writes float32 tensors as a safetensors file. */
export async function writeTensors(path: string, tensors: Readonly<Record<string, VectorTensor>>): Promise<void> {
  const entries = Object.entries(tensors).map(([name, { shape, data }]) => ({
    name,
    dtype: 'F32',
    shape,
    bytes: async () => new Uint8Array(Float32Array.from(data).buffer),
  }));
  await writeSafetensors(path, entries);
}

/** Writes a folder with an adapter of the service. */
export async function writeAdapter(folder: string, config: object, tensors: Readonly<Record<string, VectorTensor>>): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'adapter_config.json'), JSON.stringify(config));
  await writeTensors(join(folder, 'adapter_model.safetensors'), tensors);
}

/** The float32 values of every tensor of a file. */
export async function readTensors(path: string): Promise<Record<string, VectorTensor>> {
  await using file = await openSafetensors(path);
  const found: Record<string, VectorTensor> = {};
  for (const { name, shape } of file.tensors.values()) {
    const bytes = await file.read(name);
    found[name] = { shape, data: [...new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)] };
  }
  return found;
}
