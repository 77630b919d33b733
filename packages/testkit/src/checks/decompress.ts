import * as zlib from 'node:zlib';
import { zstdContentSize } from './zstd-frame.js';

interface NativeZstd {
  readonly zstdDecompressSync?: ((body: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array) | undefined;
}

type WasmZstd = typeof import('@bokuweb/zstd-wasm');

/** The limit for a frame that does not declare its content size: the decoder reserves that much memory. */
const MAX_UNDECLARED_BYTES = 64 * 2 ** 20;

/** The WebAssembly module starts once per process: a second start would swap its memory. The HTTP client in the same process uses it too. */
const STARTED = Symbol.for('tinkex.zstd-wasm.started');
const shared = globalThis as { [STARTED]?: WeakMap<object, Promise<void>> | undefined };

/** Decompresses a zstd frame. Rejects when the body is not one, or when neither decoder is available. */
export async function decompressZstd(body: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  const { zstdDecompressSync } = zlib as NativeZstd;
  if (zstdDecompressSync !== undefined) return zstdDecompressSync(body, { maxOutputLength: maxBytes });
  const declared = zstdContentSize(body);
  if (declared !== undefined && declared > maxBytes) throw new RangeError(`The body has more than ${maxBytes} bytes`);
  const { decompress } = await loadWasmZstd();
  return decompress(body, { defaultHeapSize: Math.min(maxBytes, MAX_UNDECLARED_BYTES) });
}

/** Loads the optional peer dependency that decodes zstd on Node versions without it. */
export async function loadWasmZstd(): Promise<WasmZstd> {
  // Written so that bundlers leave it alone: docs/decisions/0013-optional-peers-and-bundlers.md
  const wasm = await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ '@bokuweb/zstd-wasm').catch(
    (error: unknown) => {
      throw error;
    },
  );
  await start(wasm.init);
  return wasm;
}

/** Keyed by the function, because there may be two copies of the package. */
function start(init: () => Promise<void>): Promise<void> {
  shared[STARTED] ??= new WeakMap();
  const started = shared[STARTED].get(init) ?? init();
  shared[STARTED].set(init, started);
  return started;
}
