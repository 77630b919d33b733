const MAGIC = 0xfd2fb528;
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;
/** The largest window a 32-bit decoder takes, as a power of two. */
const MAX_WINDOW_LOG = 30;

/**
 * The content size that the header of a zstd frame declares (RFC 8878, 3.1.1.1); undefined when it declares none. Throws when the body has no frame
 * header: the decoder for older Node versions would corrupt its memory and fail from then on.
 */
export function zstdContentSize(body: Uint8Array): bigint | undefined {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  if (body.length < 5 || view.getUint32(0, true) !== MAGIC) throw notAFrame();
  const descriptor = view.getUint8(4);
  const hasWindow = (descriptor & 0x20) === 0;
  const isReservedSet = (descriptor & 0x08) !== 0;
  const dictionaryBytes = DICTIONARY_ID_BYTES[(descriptor & 0x03) as 0 | 1 | 2 | 3];
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? (hasWindow ? 0 : 1) : 1 << sizeFlag;
  const sizeAt = 5 + (hasWindow ? 1 : 0) + dictionaryBytes;
  if (isReservedSet || body.length < sizeAt + sizeBytes) throw notAFrame();
  if (hasWindow && 10 + (view.getUint8(5) >> 3) > MAX_WINDOW_LOG) throw notAFrame();
  switch (sizeBytes) {
    case 1:
      return BigInt(view.getUint8(sizeAt));
    case 2:
      // Sizes below 256 have the shorter form.
      return BigInt(view.getUint16(sizeAt, true) + 256);
    case 4:
      return BigInt(view.getUint32(sizeAt, true));
    case 8:
      return view.getBigUint64(sizeAt, true);
    default:
      return undefined;
  }
}

function notAFrame(): Error {
  return new Error('The body does not begin with a zstd frame.');
}
