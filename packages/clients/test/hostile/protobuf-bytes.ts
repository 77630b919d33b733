/** A field of a protobuf message: bytes or text, a number as varint, or a double. */
export type Field = readonly [number: number, value: string | Uint8Array | number | { readonly double: number }];

/** Writes a protobuf message, by the page of the encoding and nothing else. */
export function message(...fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields.map(([number, value]) => {
      if (typeof value === 'number') return Buffer.concat([varint(number * 8), varint(value)]);
      if (typeof value === 'object' && 'double' in value) {
        const double = Buffer.alloc(8);
        double.writeDoubleLE(value.double);
        return Buffer.concat([varint(number * 8 + 1), double]);
      }
      const bytes = Buffer.from(value as string);
      return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
    }),
  );
}

/** A number as varint; a bigint for what no server should send. */
export function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt(value);
  do {
    const low = Number(rest & 127n);
    rest >>= 7n;
    bytes.push(rest === 0n ? low : low | 128);
  } while (rest !== 0n);
  return Buffer.from(bytes);
}

/** The fields of a message, in order: of wire types 0, 1 and 2. */
export function fieldsOf(bytes: Uint8Array): { readonly number: number; readonly value: number | Uint8Array }[] {
  const fields: { number: number; value: number | Uint8Array }[] = [];
  let at = 0;
  const next = (): number => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const key = next();
    const number = Math.floor(key / 8);
    if (key % 8 === 0) fields.push({ number, value: next() });
    else {
      const length = key % 8 === 1 ? 8 : next();
      fields.push({ number, value: bytes.subarray(at, at + length) });
      at += length;
    }
  }
  return fields;
}

export function float32(...values: readonly number[]): Buffer {
  return Buffer.from(new Uint8Array(Float32Array.from(values).buffer));
}

export function int32(...values: readonly number[]): Buffer {
  return Buffer.from(new Uint8Array(Int32Array.from(values).buffer));
}

export function int64(...values: readonly number[]): Buffer {
  return Buffer.from(new Uint8Array(BigInt64Array.from(values, BigInt).buffer));
}
