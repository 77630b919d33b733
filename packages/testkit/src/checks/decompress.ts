import * as zlib from 'node:zlib';

interface NativeZstd {
  readonly zstdDecompressSync?: (body: Uint8Array, options?: { readonly maxOutputLength?: number }) => Uint8Array;
}

type WasmZstd = typeof import('@bokuweb/zstd-wasm');

let wasm: Promise<WasmZstd> | undefined;

/** The body without its zstd frame. Rejects when it is not one, or none of the two decoders is there. */
export async function decompressZstd(body: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  const { zstdDecompressSync } = zlib as NativeZstd;
  if (zstdDecompressSync !== undefined) {
    return zstdDecompressSync(body, { maxOutputLength: maxBytes });
  }
  wasm ??= loadWasm();
  const { decompress } = await wasm;
  const plain = decompress(body);
  if (plain.length > maxBytes) {
    throw new RangeError(`The body has more than ${maxBytes} bytes`);
  }
  return plain;
}

/** Older Node versions have no zstd of their own; the optional peer dependency stands in. */
async function loadWasm(): Promise<WasmZstd> {
  const module = await import('@bokuweb/zstd-wasm');
  await module.init();
  return module;
}
