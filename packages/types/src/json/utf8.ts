/** What every runtime has and the language's own library does not declare. */
declare class TextDecoder {
  constructor(encoding: string, options: { readonly fatal: boolean });
  decode(bytes: Uint8Array): string;
}

/** Text of UTF-8 bytes; a leading byte order mark is skipped. Throws a `TypeError` for bytes that are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  decoder ??= new TextDecoder('utf-8', { fatal: true });
  return decoder.decode(bytes);
}

let decoder: TextDecoder | undefined;
