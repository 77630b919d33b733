import { open, rename, rm } from 'node:fs/promises';
import { weightsError } from '../weights-error.js';
import { type TensorInfo, tensorBytes } from './dtype.js';

/** A tensor to write. Its bytes are requested when it is its turn, so that one tensor at a time is in memory. */
export interface TensorToWrite extends TensorInfo {
  readonly bytes: () => Promise<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** Options of {@link writeSafetensors}. */
export interface WriteSafetensorsOptions {
  /** Texts for the header. Default `{ format: 'pt' }`, which Python's libraries expect. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Ends the writing. No file is left behind. */
  readonly signal?: AbortSignal | undefined;
}

/** Writes a safetensors file. The file appears under its name when it is complete. */
export async function writeSafetensors(
  path: string,
  tensors: readonly TensorToWrite[],
  options: WriteSafetensorsOptions = {},
): Promise<void> {
  const { metadata = { format: 'pt' }, signal } = options;
  const partial = `${path}.partial`;
  const file = await open(partial, 'w');
  try {
    await file.writeFile(headerOf(path, tensors, metadata));
    for (const tensor of tensors) {
      let written = 0;
      for await (const block of blocksOf(tensor)) {
        signal?.throwIfAborted();
        await file.writeFile(block);
        written += block.byteLength;
      }
      if (written !== tensorBytes(tensor))
        throw weightsError(path, `${tensor.name} gave ${written} bytes instead of ${tensorBytes(tensor)}.`);
    }
    await file.sync();
    await file.close();
    await rename(partial, path);
  } catch (error) {
    await file.close();
    await rm(partial, { force: true });
    throw error;
  }
}

async function* blocksOf({ bytes }: TensorToWrite): AsyncGenerator<Uint8Array> {
  const content = bytes();
  if (Symbol.asyncIterator in content) yield* content;
  else yield await content;
}

function headerOf(path: string, tensors: readonly TensorToWrite[], metadata: Readonly<Record<string, string>>): Uint8Array {
  const entries: Record<string, unknown> = { __metadata__: metadata };
  let position = 0;
  for (const { name, dtype, shape } of tensors) {
    const length = tensorBytes({ dtype, shape });
    if (length === undefined) throw weightsError(path, `${name} has the unknown type ${dtype}.`);
    if (Object.hasOwn(entries, name)) throw weightsError(path, `there are two tensors ${name}.`);
    entries[name] = { dtype, shape, data_offsets: [position, position + length] };
    position += length;
  }
  const json = new TextEncoder().encode(JSON.stringify(entries));
  // The data starts at a multiple of eight; the format fills up with spaces.
  const header = new Uint8Array(8 + Math.ceil(json.byteLength / 8) * 8).fill(0x20);
  new DataView(header.buffer).setBigUint64(0, BigInt(header.byteLength - 8), true);
  header.set(json, 8);
  return header;
}
