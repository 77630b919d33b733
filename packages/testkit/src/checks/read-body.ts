import { ValidationError, type WireFormat } from '@tinkex/types';
import { type Codec, endpoints, parseJson } from '@tinkex/types/wire';
import type { Dialect } from '../dialects/dialect.js';
import { readSubmissionHead, type SubmissionHead } from '../proto/read-request.js';
import { decodeForwardBackwardRequest } from '../proto/server-protobuf.js';
import type { RecordedCall } from '../recorder/recorded-call.js';
import type { Recorder } from '../recorder/recorder.js';
import { refuse } from '../requests/message.js';
import type { RouteName } from '../routes/route-types.js';
import type { RuleId } from '../rules/rules.js';
import type { Tenant } from '../state/tenant.js';
import { decodeKnownFields, noteUnknownField } from './unknown-fields.js';

/** Fields that the protocol requires and the codecs fill in, because users of the SDK may leave them out. */
export const REQUIRED_FIELDS: Partial<Record<RouteName, readonly string[]>> = { asample: ['sampling_params'] };

/** Routes that answer an invalid body with 400; the others answer with 422. */
const BAD_REQUEST_ROUTES: ReadonlySet<RouteName> = new Set<RouteName>(['setCheckpointTtl', 'assignSessionProject']);

/** A body to read, and what decides how. */
export interface BodyInput {
  readonly recorder: Recorder;
  readonly call: RecordedCall;
  readonly dialect: Dialect;
  /** Refuses undocumented fields instead of noting and dropping them. */
  readonly isStrict: boolean;
  readonly tenant: Tenant;
  readonly route: RouteName;
  readonly contentType: string | undefined;
  readonly body: Uint8Array;
}

/** Decodes the body of a request, or refuses it: 400 unreadable, 415 wrong type, 422 wrong content. */
export function readBody(input: BodyInput): unknown {
  const endpoint = endpoints[input.route] as { readonly request?: Codec<unknown> | undefined };
  if (input.route === 'forwardBackward' || input.route === 'forward') return readForwardBackward(input);
  if (endpoint.request === undefined) return undefined;
  requireFormat(input, ['json']);
  return decodeJson(input, endpoint.request.decode);
}

function readForwardBackward(input: BodyInput): unknown {
  const formats: readonly WireFormat[] = input.route === 'forward' ? ['json'] : input.dialect.requestFormats;
  if (requireFormat(input, formats) === 'json') {
    return decodeJson(input, endpoints[input.route === 'forward' ? 'forward' : 'forwardBackward'].request.decode);
  }
  try {
    return decodeProtobuf(input);
  } catch (error) {
    // The issues of a readable message with wrong content have paths; those of an unreadable one have none.
    const isReadable = ValidationError.isInstance(error) && error.issues.every(({ path }) => path !== '');
    if (!isReadable) return refuseInvalid(input, 400, 'body-malformed', error);
    skipNumber(input, readSubmissionHead(input.body));
    return refuseInvalid(input, 422, 'body-invalid', error);
  }
}

function decodeProtobuf({ recorder, call, isStrict, route, body }: BodyInput): unknown {
  const unknown = new Set<string>();
  const request = decodeForwardBackwardRequest(body, (field) => unknown.add(field));
  if (isStrict && unknown.size > 0) {
    const issues = [...unknown].map((path) => ({ path, message: 'is not a known field; remove it' }));
    throw new ValidationError({ direction: 'request', subject: 'ForwardBackwardRequest', issues });
  }
  for (const path of unknown) noteUnknownField(recorder, call, route, path);
  return request;
}

function requireFormat({ recorder, call, dialect, route, contentType = '' }: BodyInput, formats: readonly WireFormat[]): WireFormat {
  const format: WireFormat | undefined = /^application\/x-protobuf\b/i.test(contentType)
    ? 'protobuf'
    : /^application\/json\b/i.test(contentType)
      ? 'json'
      : undefined;
  if (format !== undefined && formats.includes(format)) return format;
  const detail = `${route} does not take the content type ${contentType === '' ? '(none)' : contentType}; it takes ${formats.join(' or ')}`;
  // A client finds out which format a server reads by offering one, so the other documented format is not a violation.
  const isOffer = format !== undefined && (route === 'forwardBackward' || route === 'forward');
  if (!isOffer) recorder.violate(call, 'content-type', detail);
  refuse(isOffer ? dialect.refusedFormatStatus : 415, detail);
}

function decodeJson(input: BodyInput, decode: (wire: unknown) => unknown): unknown {
  let wire: unknown;
  try {
    wire = parseJson(input.body);
  } catch (error) {
    return refuseInvalid(input, 400, 'body-malformed', error);
  }
  try {
    requireFields(input.route, wire);
    const { recorder, call, route, isStrict } = input;
    return decodeKnownFields(wire, decode, { isStrict, note: (path) => noteUnknownField(recorder, call, route, path) });
  } catch (error) {
    skipNumber(input, headInJson(wire));
    const status = BAD_REQUEST_ROUTES.has(input.route) ? 400 : 422;
    return refuseInvalid(input, status, hasNull(wire) ? 'field-null' : 'body-invalid', error);
  }
}

function requireFields(route: RouteName, wire: unknown): void {
  const missing = REQUIRED_FIELDS[route]?.filter((name) => typeof wire === 'object' && wire !== null && !(name in wire)) ?? [];
  if (missing.length > 0) {
    const issues = missing.map((path) => ({ path, message: 'is required' }));
    throw new ValidationError({ direction: 'request', subject: route, issues });
  }
}

/** A refused submission uses up its sequence ID: the operations behind it must not wait for it. */
function skipNumber({ tenant, dialect }: BodyInput, head: SubmissionHead | undefined): void {
  if (head !== undefined) tenant.skip(head.modelId, head.seqId, dialect);
}

/** The model and the sequence ID in a body that is otherwise invalid; undefined when it names none. */
function headInJson(wire: unknown): SubmissionHead | undefined {
  const { model_id: modelId, seq_id: seqId } = (typeof wire === 'object' && wire !== null ? wire : {}) as Readonly<Record<string, unknown>>;
  return typeof modelId === 'string' && typeof seqId === 'number' ? { modelId, seqId } : undefined;
}

function hasNull(wire: unknown): boolean {
  return typeof wire === 'object' && wire !== null && Object.values(wire).some((value) => value === null);
}

/** Refuses a body. An error other than `ValidationError` means that the decoder is broken, which is not the client's fault. */
function refuseInvalid({ recorder, call, route }: BodyInput, status: 400 | 422, rule: RuleId, error: unknown): never {
  if (!ValidationError.isInstance(error)) throw error;
  // The JSON reader expects responses: its message would blame the server.
  const reason = error.direction === 'request' ? error.message : error.issues.map(({ message }) => message).join('; ');
  const detail = `${route}: ${reason}`;
  recorder.violate(call, rule, detail);
  refuse(status, detail);
}
