import type { JsonValue } from '@tinkex/types';
import { parseJson, REDACTED, redactHeaders, redactText, stringifyJson } from '@tinkex/types/wire';
import { bytesOf, type ServerReply, type ServerRequest } from '../requests/message.js';
import type { RouteName } from '../routes/route-types.js';
import { decodeAnswer, decodeRequest, mediaTypeOf } from './decode-content.js';
import { driftOf } from './drift.js';
import type { RecordedBody, RecordedExchange } from './exchange.js';
import type { ExchangeBytes } from './exchange-folder.js';

/** The request headers that change an answer. */
const REQUEST_HEADERS: readonly string[] = ['accept', 'content-type', 'x-tinker-request-type'];
/** Headers of an answer that change from run to run. `content-length` is added when the answer is replayed. */
const CHANGING_HEADERS: ReadonlySet<string> = new Set(['content-length', 'expires', 'server', 'x-request-id']);
/** A token that clients can read and that grants nothing: it says that it expires in the year 2100. */
const HARMLESS_TOKEN = `${base64Url({ alg: 'none', typ: 'JWT' })}.${base64Url({ exp: 4_102_444_800 })}.`;

/** A request that arrived, with its plain body. */
export interface ArrivedRequest {
  readonly raw: ServerRequest;
  /** Decompressed. */
  readonly body: Uint8Array;
  readonly route: RouteName | undefined;
  /** Path and query, secrets hidden. */
  readonly target: string;
  /** The body in the JSON of the protocol; undefined when there is none, or it cannot be decoded. */
  readonly json: JsonValue | undefined;
  /** What is compared with recorded requests: `json`, or the base64 of another body. */
  readonly content: JsonValue | undefined;
}

/** Reads a request for recording and matching. */
export function arrivedRequest(raw: ServerRequest, body: Uint8Array, route: RouteName | undefined): ArrivedRequest {
  const json = body.length === 0 ? undefined : decodeRequest(route, raw.headers['content-type'], body);
  const content = json ?? (body.length === 0 ? undefined : Buffer.from(body).toString('base64'));
  return { raw, body, route, target: redactText(raw.target), json, content };
}

/** The exchange to record, and the bytes that belong beside it. */
export function recordExchange(
  { raw, body, route, target, json: request }: ArrivedRequest,
  reply: ServerReply,
): { readonly exchange: RecordedExchange; readonly bytes: ExchangeBytes } {
  const requestType = raw.headers['x-tinker-request-type'];
  const answerBytes = bytesOf(reply.body);
  const answer = recordedAnswer(route, requestType, reply.headers['content-type'], answerBytes);
  const drift = driftOf({
    route,
    method: raw.method,
    path: target,
    requestType,
    request,
    hasRequestBody: body.length > 0,
    status: reply.status,
    answer: answer.body?.json,
    hasAnswerBody: answerBytes.length > 0,
  });
  const requestBody = request === undefined ? {} : { body: { json: request } };
  const exchange: RecordedExchange = {
    route: route ?? null,
    request: { method: raw.method, target, headers: pick(redactHeaders(raw.headers), REQUEST_HEADERS), ...requestBody },
    response: { status: reply.status, headers: keptHeaders(reply.headers), ...(answer.body === undefined ? {} : { body: answer.body }) },
    ...(drift.length === 0 ? {} : { drift }),
  };
  const unreadable = request === undefined && body.length > 0 ? { request: body } : {};
  return { exchange, bytes: { ...unreadable, ...(answer.bytes === undefined ? {} : { response: answer.bytes }) } };
}

/** The answer as the file has it, and its exact bytes where those are not text. */
function recordedAnswer(
  route: RouteName | undefined,
  requestType: string | undefined,
  contentType: string | undefined,
  bytes: Uint8Array,
): { readonly body?: RecordedBody; readonly bytes?: Uint8Array } {
  if (bytes.length === 0) return {};
  const decoded = decodeAnswer(requestType, contentType, bytes);
  const json = route === 'authToken' && decoded !== undefined ? withHarmlessToken(decoded) : decoded;
  if (mediaTypeOf(contentType) === 'json' && json !== undefined) return { body: exactJson(json, Buffer.from(bytes).toString()) };
  if (contentType?.startsWith('text/')) return { body: { text: redactText(Buffer.from(bytes).toString()) } };
  return { body: json === undefined ? {} : { json }, bytes };
}

/** Keeps the text of a JSON body where it differs from the compact form: in spaces, in digits, in the order of names. */
function exactJson(json: JsonValue, text: string): RecordedBody {
  const compact = stringifyJson(json);
  if (text === compact) return { json };
  // With its secrets hidden, the body is no longer what was sent: the compact form is as good as any.
  return stringifyJson(parseJson(text)) === compact ? { json, text } : { json };
}

function withHarmlessToken(answer: JsonValue): JsonValue {
  return typeof answer === 'object' && answer !== null && 'jwt' in answer ? { ...answer, jwt: HARMLESS_TOKEN } : answer;
}

function keptHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const shown = Object.entries(redactHeaders(headers)).filter(([name, value]) => value !== REDACTED && !CHANGING_HEADERS.has(name));
  const { location } = headers;
  return { ...Object.fromEntries(shown), ...(location === undefined ? {} : { location: redactText(location) }) };
}

function pick(headers: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}

function base64Url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
