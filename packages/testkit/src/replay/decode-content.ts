import type { JsonValue } from '@tinkex/types';
import {
  type Codec,
  type Endpoint,
  endpoints,
  forwardBackwardOutput,
  parseJson,
  protobuf,
  redactJson,
  sampleResponse,
  stringifyJson,
} from '@tinkex/types/wire';
import { serverProtobuf } from '../proto/server-protobuf.js';
import type { RouteName } from '../routes/route-types.js';

/** The media types of the API, without their parameters. */
export type MediaType = 'json' | 'protobuf' | 'other';

/** What kind of content a header announces. */
export function mediaTypeOf(contentType: string | undefined): MediaType {
  const name = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  return name === 'application/json' ? 'json' : name === 'application/x-protobuf' ? 'protobuf' : 'other';
}

/** The body of a request in the JSON of the protocol, secrets hidden; undefined when it cannot be read. */
export function decodeRequest(route: RouteName | undefined, contentType: string | undefined, body: Uint8Array): JsonValue | undefined {
  return attempt(() => {
    switch (mediaTypeOf(contentType)) {
      case 'json':
        return redactJson(parseJson(body));
      case 'protobuf':
        return route === 'forwardBackward'
          ? plain(endpoints.forwardBackward.request.encode(serverProtobuf.forwardBackwardRequest.decode(body)))
          : undefined;
      default:
        return undefined;
    }
  });
}

/** The body of an answer in the JSON of the protocol, secrets hidden; undefined when it cannot be read. */
export function decodeAnswer(requestType: string | undefined, contentType: string | undefined, body: Uint8Array): JsonValue | undefined {
  return attempt(() => {
    switch (mediaTypeOf(contentType)) {
      case 'json':
        return redactJson(parseJson(body));
      case 'protobuf':
        return requestType === 'Sample'
          ? plain(sampleResponse.encode(protobuf.sampleResponse.decode(body)))
          : plain(forwardBackwardOutput.encode(protobuf.forwardBackwardOutput.decode(body)));
      default:
        return undefined;
    }
  });
}

/** The codec of the result of an operation, by the name that polls give it. */
export function resultCodec(requestType: string | undefined): Codec<unknown> | undefined {
  const rows: readonly Endpoint[] = Object.values(endpoints);
  return rows.find((row) => row.requestType !== undefined && row.requestType === requestType)?.result as Codec<unknown> | undefined;
}

/** The same value with plain lists in place of typed arrays. */
function plain(value: JsonValue): JsonValue {
  return parseJson(stringifyJson(value));
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    // Unreadable content is kept as bytes; the drift report names it.
    return undefined;
  }
}
