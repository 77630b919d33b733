import { BinaryReader } from '@bufbuild/protobuf/wire';

/** How a value is laid out on the wire. */
export const VARINT = 0;
/** How a value is laid out on the wire. */
export const FIXED64 = 1;
/** How a value is laid out on the wire. */
export const BYTES = 2;

/** Reads one field if it is known and laid out as expected, and says whether it did. */
export type FieldReader = (field: number, layout: number, end: number) => boolean;

/** Reads bytes; copes with a subclass of `Uint8Array` whose methods differ (Node's Buffer). */
export function readerOf(bytes: Uint8Array): BinaryReader {
  return new BinaryReader(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

/**
 * Reads the fields of a message up to its end. Fields that are unknown, or laid out in another way than the schema says, are
 * skipped, as protobuf demands. Throws when the bytes are cut off or a field reaches beyond the message.
 */
export function readMessage(reader: BinaryReader, end: number, readField: FieldReader): void {
  while (reader.pos < end) {
    const [field, layout] = reader.tag();
    if (!readField(field, layout, end)) reader.skip(layout, field);
  }
  if (reader.pos !== end) throw new RangeError('a field reaches beyond its message');
}

/** The end of the message that begins here with its length. */
export function nestedEnd(reader: BinaryReader, end: number): number {
  const length = reader.uint32();
  const nested = reader.pos + length;
  if (nested > end) throw new RangeError('a message reaches beyond the one it is in');
  return nested;
}

/** Reads the entry of a map: a text key (empty when missing), and whatever the value's reader makes of field 2. */
export function readEntry(reader: BinaryReader, end: number, readValue: (layout: number, end: number) => boolean): string {
  let key = '';
  readMessage(reader, end, (field, layout, inner) => {
    if (field === 1 && layout === BYTES) {
      key = reader.string(true);
      return true;
    }
    return field === 2 && readValue(layout, inner);
  });
  return key;
}

/** Reads an int64 of a repeated field, packed or not, into a list. */
export function readInt64s(reader: BinaryReader, layout: number, end: number, into: bigint[]): boolean {
  if (layout === VARINT) {
    into.push(BigInt(reader.int64()));
    return true;
  }
  if (layout !== BYTES) return false;
  const packedEnd = nestedEnd(reader, end);
  while (reader.pos < packedEnd) into.push(BigInt(reader.int64()));
  if (reader.pos !== packedEnd) throw new RangeError('a number reaches beyond its list');
  return true;
}
