import { checkpointRefused } from './entry-path.js';

const BLOCK_BYTES = 512;
const TYPE_OFFSET = 156;
const SIZE_OFFSET = 124;
const SIZE_BYTES = 12;
/** Larger extended headers are left to the decoder, which refuses them. */
const MAX_PAX_BYTES = 1024 * 1024;

/** Files, directories, the headers that describe the next entry, and links, devices and pipes, which are refused by their names later. */
const KNOWN_TYPES = new Set(['0', '\0', '1', '2', '3', '4', '5', '6', '7', 'x', 'g', 'L', 'K']);

/**
 * Passes the bytes of a tar on, and refuses entries of types that a decoder would take for files: sparse files, whose bytes are not their
 * content, in GNU's or pax's form, and every type it does not know.
 */
export async function* refuseUnknownTypes(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const entries = new EntryScanner();
  for await (const block of blocks) {
    entries.scan(block);
    yield block;
  }
}

/** Follows the headers of a tar whose bytes arrive in pieces. */
class EntryScanner {
  readonly #header = new Uint8Array(BLOCK_BYTES);
  #headerBytes = 0;
  /** Bytes of the current entry, with padding, that are still to come. */
  #bodyBytes = 0;
  /** The extended header that is being read. */
  #pax: { readonly size: number; readonly pieces: Uint8Array[] } | undefined;
  /** The size that an extended header gives the next entry. */
  #paxSize: number | undefined;

  scan(block: Uint8Array): void {
    let position = 0;
    while (position < block.byteLength) {
      if (this.#bodyBytes > 0) {
        const length = Math.min(this.#bodyBytes, block.byteLength - position);
        this.#body(block.subarray(position, position + length));
        position += length;
      } else {
        const length = Math.min(BLOCK_BYTES - this.#headerBytes, block.byteLength - position);
        this.#header.set(block.subarray(position, position + length), this.#headerBytes);
        this.#headerBytes += length;
        position += length;
        if (this.#headerBytes === BLOCK_BYTES) this.#entry();
      }
    }
  }

  #entry(): void {
    this.#headerBytes = 0;
    const type = String.fromCharCode(this.#header[TYPE_OFFSET] as number);
    if (!KNOWN_TYPES.has(type))
      throw checkpointRefused(`it has an entry of the type ${JSON.stringify(type)}, which is neither a file nor a directory`);
    const isPax = type === 'x' || type === 'g';
    const isDescription = isPax || type === 'L' || type === 'K';
    const size = (isDescription ? undefined : this.#paxSize) ?? sizeOf(this.#header);
    if (!isDescription) this.#paxSize = undefined;
    this.#bodyBytes = Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
    this.#pax = isPax && size > 0 && size <= MAX_PAX_BYTES ? { size, pieces: [] } : undefined;
  }

  #body(piece: Uint8Array): void {
    this.#bodyBytes -= piece.byteLength;
    if (this.#pax === undefined) return;
    this.#pax.pieces.push(piece);
    if (this.#bodyBytes > 0) return;
    const text = Buffer.concat(this.#pax.pieces).subarray(0, this.#pax.size).toString('latin1');
    this.#pax = undefined;
    if (text.includes(' GNU.sparse.')) throw checkpointRefused('it has a sparse file, whose bytes are not its content');
    const size = /(?:^|\n)\d{1,20} size=(\d{1,20})\n/.exec(text)?.[1];
    if (size !== undefined) this.#paxSize = Number(size);
  }
}

/** Octal text, or binary for sizes that do not fit. A size that cannot be read is left to the decoder, which refuses it. */
function sizeOf(header: Uint8Array): number {
  const field = header.subarray(SIZE_OFFSET, SIZE_OFFSET + SIZE_BYTES);
  if (((field[0] as number) & 0x80) !== 0) return field.subarray(1).reduce((size, byte) => size * 256 + byte, (field[0] as number) & 0x7f);
  const size = Number.parseInt(Buffer.from(field).toString('latin1').trim(), 8);
  return Number.isFinite(size) && size > 0 ? size : 0;
}
