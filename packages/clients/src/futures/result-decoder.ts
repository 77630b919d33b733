import { type JsonValue, ValidationError } from '@tinkex/types';

/** How the result of one kind of promise is read. Give the encodings the result can have; the other one is then an error. */
export interface ResultDecoder<T> {
  json?(value: JsonValue): T;
  protobuf?(bytes: Uint8Array): T;
}

/** Reads a finished result by the encoding the server chose. */
export function decodeResult<T>(
  decoder: ResultDecoder<T>,
  result: { readonly encoding: 'json'; readonly value: JsonValue } | { readonly encoding: 'protobuf'; readonly bytes: Uint8Array },
  requestType: string,
): T {
  if (result.encoding === 'json' && decoder.json !== undefined) return decoder.json(result.value);
  if (result.encoding === 'protobuf' && decoder.protobuf !== undefined) return decoder.protobuf(result.bytes);
  const issues = [{ path: '', message: `came as ${result.encoding}, which this kind of result never has` }];
  throw new ValidationError({ direction: 'response', subject: `${requestType} result`, issues });
}
