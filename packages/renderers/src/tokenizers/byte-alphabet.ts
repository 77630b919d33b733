/**
 * The alphabet of byte-level vocabularies: every byte as a printable character, so that a vocabulary is a list of texts. Printable bytes are themselves, the
 * others (0–32, 127–160, 173) are the characters from U+0100 on.
 */
export const BYTE_CHARACTERS: readonly string[] = makeByteCharacters();

/** From the code of such a character to its byte; -1 for any other code below 512. */
const BYTE_OF_CODE: Int16Array = new Int16Array(512).fill(-1);
BYTE_CHARACTERS.forEach((character, byte) => {
  BYTE_OF_CODE[character.charCodeAt(0)] = byte;
});

/** The bytes that a token of a byte-level vocabulary means, or undefined if a character is not in the alphabet. */
export function bytesOfToken(token: string): Uint8Array | undefined {
  const bytes = new Uint8Array(token.length);
  for (let index = 0; index < token.length; index += 1) {
    const byte = BYTE_OF_CODE[token.charCodeAt(index)] ?? -1;
    if (byte < 0) return undefined;
    bytes[index] = byte;
  }
  return bytes;
}

function makeByteCharacters(): string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const isPrintable = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    return String.fromCharCode(isPrintable ? byte : next++);
  });
}
