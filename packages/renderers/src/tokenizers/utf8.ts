/** What every runtime has and the language's own library does not declare. */
declare class TextDecoder {
  constructor(encoding: string, options: { readonly ignoreBOM: boolean });
  decode(bytes: Uint8Array): string;
}

// `ignoreBOM` keeps a leading U+FEFF, which the decoder would otherwise swallow.
const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** The text of UTF-8 bytes. What is not UTF-8 becomes U+FFFD. */
export function decodeUtf8(bytes: Uint8Array): string {
  return DECODER.decode(bytes);
}

/**
 * Writes the UTF-8 bytes of `text` and returns how many there are: at most three per code unit. A lone surrogate is written as U+FFFD. For texts of a few
 * characters this is several times faster than `TextEncoder`.
 */
export function writeUtf8(text: string, bytes: Uint8Array): number {
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    let code = text.charCodeAt(index);
    if (code >= 0xd800 && code <= 0xdfff) {
      const point = text.codePointAt(index) as number;
      if (point > 0xffff) index += 1;
      code = point > 0xffff ? point : 0xfffd;
    }
    if (code < 0x80) {
      bytes[length++] = code;
      continue;
    }
    if (code < 0x800) bytes[length++] = 0xc0 | (code >> 6);
    else {
      if (code < 0x1_0000) bytes[length++] = 0xe0 | (code >> 12);
      else {
        bytes[length++] = 0xf0 | (code >> 18);
        bytes[length++] = 0x80 | ((code >> 12) & 0x3f);
      }
      bytes[length++] = 0x80 | ((code >> 6) & 0x3f);
    }
    bytes[length++] = 0x80 | (code & 0x3f);
  }
  return length;
}

/** The UTF-8 bytes of `text`. */
export function encodeUtf8(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 3);
  return bytes.subarray(0, writeUtf8(text, bytes));
}
