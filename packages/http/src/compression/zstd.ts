import * as zlib from 'node:zlib';

type Compress = (bytes: Uint8Array) => Promise<Uint8Array>;

let compressor: Promise<Compress | undefined> | undefined;
/**
 * Starting the optional package a second time would swap its memory under the first user's feet, so it is started once in a process, whoever is first:
 * the test kit, in the same process, decompresses with it.
 */
const STARTED = Symbol.for('tinkex.zstd-wasm.started');
const shared = globalThis as { [STARTED]?: WeakMap<object, Promise<void>> };

/**
 * Compresses with zstd at the library's default level, in one frame: by Node's own zlib where it has zstd (22.15, 23.8 and
 * later), else by the optional peer `@bokuweb/zstd-wasm`.
 *
 * @returns `undefined` when this runtime has neither; send the bytes as they are then.
 */
export async function compressZstd(bytes: Uint8Array): Promise<Uint8Array | undefined> {
  compressor ??= findCompressor();
  const compress = await compressor;
  return compress === undefined ? undefined : compress(bytes);
}

async function findCompressor(): Promise<Compress | undefined> {
  return nativeCompressor(zlib) ?? (await wasmCompressor());
}

/** Node's own, if this Node has it. */
export function nativeCompressor(library: object): Compress | undefined {
  const zstdCompress = (library as { zstdCompress?: (input: Uint8Array, done: (error: Error | null, output: Uint8Array) => void) => void })
    .zstdCompress;
  if (zstdCompress === undefined) return undefined;
  return (bytes) =>
    new Promise((resolve, reject) => {
      zstdCompress(bytes, (error, output) => (error === null ? resolve(output) : reject(error)));
    });
}

/** The optional package, if it is installed. */
export async function wasmCompressor(name = '@bokuweb/zstd-wasm'): Promise<Compress | undefined> {
  try {
    const wasm = (await import(name)) as { init(): Promise<void>; compress(bytes: Uint8Array): Uint8Array };
    await start(wasm.init);
    return async (bytes) => wasm.compress(bytes);
  } catch {
    // Not installed: compression is a favour to the network, never a reason to fail.
    return undefined;
  }
}

/** Keyed by the function, because there may be two copies of the package. */
function start(init: () => Promise<void>): Promise<void> {
  shared[STARTED] ??= new WeakMap();
  const started = shared[STARTED].get(init) ?? init();
  shared[STARTED].set(init, started);
  return started;
}
