import { invalidRequest } from '../errors/validation-error.js';

const CONSTANT_MARKER = 254;
const HIGHEST_DTYPE = 7;
const LONGEST_VARINT = 10;

/**
 * The shape in the header of a TensorContainer (the bytes of audio chunks). The payload is not read. Throws a `ValidationError`
 * when the header is empty, cut off, or of an unknown kind. Dimensions beyond 2^53 are not exact.
 */
export function tensorContainerShape(bytes: Uint8Array): number[] {
  if (bytes.length === 0) throw invalidRequest('TensorContainer', '', 'is empty');
  let position = bytes[0] === CONSTANT_MARKER ? 1 : 0;
  const dtype = byteAt(bytes, position);
  if (dtype > HIGHEST_DTYPE) throw invalidRequest('TensorContainer', '', `has an unknown element type ${dtype}`);
  position += 1;

  const next = (): number => {
    let value = 0;
    for (let index = 0; index < LONGEST_VARINT; index += 1) {
      const byte = byteAt(bytes, position);
      position += 1;
      value += (byte & 0x7f) * 2 ** (7 * index);
      if (byte < 0x80) return value;
    }
    throw invalidRequest('TensorContainer', '', 'has a number that is too long');
  };
  const dimensions = next();
  const shape: number[] = [];
  // Each dimension takes at least a byte, so a false count ends with the bytes.
  while (shape.length < dimensions) shape.push(next());
  return shape;
}

function byteAt(bytes: Uint8Array, position: number): number {
  const byte = bytes[position];
  if (byte === undefined) throw invalidRequest('TensorContainer', '', 'ends inside its header');
  return byte;
}
