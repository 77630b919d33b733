import { findNodeModule } from '../runtime/node-module.js';

type Compress = (bytes: Uint8Array) => Promise<Uint8Array>;

let compressor: Promise<Compress | undefined> | undefined;
/**
 * A second start of the optional package would replace its memory while the first user still works with it, so it starts once
 * per process: the testkit decompresses with it in the same process.
 */
const STARTED = Symbol.for('tinkex.zstd-wasm.started');
const shared = globalThis as { [STARTED]?: WeakMap<object, Promise<void>> };

/**
 * Compresses with zstd at the library's default level, in one frame: with Node's zlib where it has zstd (22.15, 23.8 and
 * later), else with the optional peer `@bokuweb/zstd-wasm`.
 *
 * @returns `undefined` when this runtime has neither: send the body as it is.
 */
export async function compressZstd(body: string | Uint8Array): Promise<Uint8Array | undefined> {
  compressor ??= (async () => nativeCompressor(findNodeModule('node:zlib') ?? {}) ?? wasmCompressor())();
  const compress = await compressor;
  return compress?.(typeof body === 'string' ? new TextEncoder().encode(body) : body);
}

/** Node's zstd, if this Node has it. */
export function nativeCompressor(library: object): Compress | undefined {
  const zstdCompress = (library as { zstdCompress?: (input: Uint8Array, done: (error: Error | null, output: Uint8Array) => void) => void })
    .zstdCompress;
  if (zstdCompress === undefined) return undefined;
  return (bytes) =>
    new Promise((resolve, reject) => {
      zstdCompress(bytes, (error, output) => (error === null ? resolve(output) : reject(error)));
    });
}

/** The part of `@bokuweb/zstd-wasm` that is used. */
interface WasmZstd {
  init(): Promise<void>;
  compress(bytes: Uint8Array): Uint8Array;
}

/** The optional package, if it is installed. */
export async function wasmCompressor(importPeer = importZstd): Promise<Compress | undefined> {
  try {
    const wasm = await importPeer();
    await start(wasm.init);
    return async (bytes) => wasm.compress(bytes);
  } catch {
    // Not installed: compression saves bandwidth and is never a reason to fail.
    return undefined;
  }
}

/** Written so that bundlers leave it alone: docs/decisions/0013-optional-peers-and-bundlers.md */
function importZstd(): Promise<WasmZstd> {
  return import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ '@bokuweb/zstd-wasm').catch((error: unknown) => {
    throw error;
  });
}

/** Keyed by the function, because a process may have two copies of the package. */
function start(init: () => Promise<void>): Promise<void> {
  shared[STARTED] ??= new WeakMap();
  const started = shared[STARTED].get(init) ?? init();
  shared[STARTED].set(init, started);
  return started;
}
