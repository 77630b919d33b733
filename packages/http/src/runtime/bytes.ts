/** Node's, Bun's and Deno's Buffer copies and encodes faster than the web's means; other runtimes have only those. */
const BUFFER = (globalThis as { Buffer?: typeof Buffer }).Buffer;
const ENCODER = new TextEncoder();

/** The UTF-8 bytes of a text. */
export function encodeText(text: string): Uint8Array {
  return BUFFER === undefined ? ENCODER.encode(text) : BUFFER.from(text);
}

/** How many bytes a body has on the wire. */
export function byteLengthOf(body: string | Uint8Array): number {
  if (typeof body !== 'string') return body.byteLength;
  return BUFFER === undefined ? ENCODER.encode(body).byteLength : BUFFER.byteLength(body);
}

/**
 * Joins chunks.
 *
 * @param size - The sum of their lengths.
 */
export function concatBytes(chunks: readonly Uint8Array[], size: number): Uint8Array {
  if (BUFFER !== undefined) return BUFFER.concat(chunks, size);
  const joined = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return joined;
}

/** Bytes of which each is one character. */
export function decodeLatin1(bytes: Uint8Array): string {
  return BUFFER === undefined
    ? String.fromCharCode(...bytes)
    : BUFFER.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
