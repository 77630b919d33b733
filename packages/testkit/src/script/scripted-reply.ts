import type { JsonValue } from '@tinkex/types';
import { type Codec, endpoints, stringifyJson } from '@tinkex/types/wire';
import type { ServerReply } from '../requests/message.js';
import type { ErrorFields, ScriptAction, ScriptedCall } from './script.js';

/** The reply that a script gives. */
export async function scriptedReply(action: Extract<ScriptAction, { kind: 'reply' }>, call: ScriptedCall): Promise<ServerReply> {
  const body: unknown = typeof action.body === 'function' ? await action.body(call) : action.body;
  const reply = action.status < 300 ? successReply(action.status, body, call) : errorBodyReply(action.status, body, call);
  const own = Object.entries(action.headers).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...reply, headers: { ...reply.headers, ...Object.fromEntries(own) } };
}

function successReply(status: number, body: unknown, { route }: ScriptedCall): ServerReply {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return rawReply(status, body);
  const { response } = endpoints[route] as { readonly response?: Codec<unknown> | undefined };
  return json(status, response === undefined ? body : response.encode(body));
}

function errorBodyReply(status: number, body: unknown, { requestId }: ScriptedCall): ServerReply {
  if (typeof body === 'string' || body instanceof Uint8Array) return rawReply(status, body);
  const { retryAfterMs, retryAfter, shouldRetry, queueState, queueStateReason, ...fields } = (body ?? {}) as ErrorFields;
  const headers = headerTexts({ 'retry-after-ms': retryAfterMs, 'retry-after': retryAfter, 'x-should-retry': shouldRetry });
  const pending = { type: 'try_again', request_id: requestId, queue_state: queueState, queue_state_reason: queueStateReason };
  const isPending = queueState !== undefined || queueStateReason !== undefined;
  const hasFields = Object.keys(fields).length > 0;
  const content = isPending ? { ...pending, ...fields } : hasFields ? fields : { detail: `Scripted reply with status ${status}` };
  const reply = json(status, content);
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

function headerTexts(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])));
}

function rawReply(status: number, body: string | Uint8Array | undefined): ServerReply {
  if (body === undefined || body.length === 0) return { status, headers: {}, body: '' };
  const isText = typeof body === 'string';
  const contentType = isText ? (/^\s*[[{]/.test(body) ? 'application/json' : 'text/plain; charset=utf-8') : 'application/x-protobuf';
  return { status, headers: { 'content-type': contentType }, body };
}

function json(status: number, value: unknown): ServerReply {
  return { status, headers: { 'content-type': 'application/json' }, body: stringifyJson(value as JsonValue) };
}
