import type { ImageSize } from './family.js';

const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47];

/** Width and height of a PNG or JPEG file, from its header. Undefined for other bytes. */
export function imageSize(bytes: Uint8Array): ImageSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (PNG_SIGNATURE.every((byte, index) => bytes[index] === byte)) {
    return bytes.length < 24 ? undefined : { width: view.getUint32(16), height: view.getUint32(20) };
  }
  return bytes[0] === 0xff && bytes[1] === 0xd8 ? jpegSize(view) : undefined;
}

/** Walks the segments of a JPEG file to the frame header, which has the size. */
function jpegSize(view: DataView): ImageSize | undefined {
  let position = 2;
  while (position + 9 <= view.byteLength && view.getUint8(position) === 0xff) {
    const marker = view.getUint8(position + 1);
    if (isFrameHeader(marker)) return { height: view.getUint16(position + 5), width: view.getUint16(position + 7) };
    position += 2 + view.getUint16(position + 2);
  }
  return undefined;
}

/** SOF0 to SOF15, without the three markers in between that mean something else. */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}
