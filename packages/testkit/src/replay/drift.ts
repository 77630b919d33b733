import { type JsonValue, ValidationError } from '@tinkex/types';
import { type Codec, endpoints, readPollAnswer, unknownFields } from '@tinkex/types/wire';
import type { RouteName } from '../routes/route-types.js';
import { resultCodec } from './decode-content.js';

/** A request and its answer, decoded. */
export interface SeenExchange {
  readonly route: RouteName | undefined;
  readonly method: string;
  readonly path: string;
  readonly requestType: string | undefined;
  readonly request: JsonValue | undefined;
  readonly hasRequestBody: boolean;
  readonly status: number;
  readonly answer: JsonValue | undefined;
  readonly hasAnswerBody: boolean;
}

/** Where real traffic differs from the schemas of `@tinkex/types`: unknown endpoints, unknown fields, missing or wrong values. */
export function driftOf(seen: SeenExchange): string[] {
  const { route } = seen;
  if (route === undefined) return [`${seen.method} ${seen.path} is not an endpoint that this version knows`];
  const { request, response } = endpoints[route] as { readonly request?: Codec<unknown>; readonly response?: Codec<unknown> };
  const found = request === undefined ? [] : differences(request, seen.request, seen.hasRequestBody);
  const isSuccess = seen.status >= 200 && seen.status < 300;
  const codec = route === 'retrieveFuture' ? pollCodec(seen) : response;
  const inAnswer = isSuccess && codec !== undefined ? differences(codec, seen.answer, seen.hasAnswerBody) : [];
  return [...found.map((text) => `${route}, request: ${text}`), ...inAnswer.map((text) => `${answerName(seen)}: ${text}`)];
}

function answerName({ route, requestType }: SeenExchange): string {
  return route === 'retrieveFuture' && requestType !== undefined ? `${route}, result of ${requestType}` : `${route}, answer`;
}

/** A poll is answered by a result, or by one of several notices that have no codec. */
function pollCodec({ answer, requestType }: SeenExchange): Codec<unknown> | undefined {
  return readPollAnswer(answer).kind === 'result' ? resultCodec(requestType) : undefined;
}

function differences(codec: Codec<unknown>, content: JsonValue | undefined, hasBody: boolean): string[] {
  if (content === undefined) return hasBody ? ['the body cannot be read'] : [];
  try {
    return [...unknownIn(codec.decode(content), '')];
  } catch (error) {
    if (!ValidationError.isInstance(error)) throw error;
    return [...new Set(error.issues.map(({ path, message }) => `${anyIndex(path)} ${message}`.trim()))];
  }
}

/** The unknown fields of a decoded value and of the values in it. */
function* unknownIn(value: unknown, path: string): Generator<string> {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  const below = path === '' ? '' : `${path}.`;
  for (const name of Object.keys(unknownFields(value))) yield `${below}${name} is not a known field`;
  const reported = new Set<string>();
  for (const [name, entry] of Object.entries(value)) {
    for (const text of unknownIn(entry, Array.isArray(value) ? `${path}[]` : `${below}${name}`)) {
      if (!reported.has(text)) yield text;
      reported.add(text);
    }
  }
}

function anyIndex(path: string): string {
  return path.replaceAll(/\[\d+\]/g, '[]');
}
