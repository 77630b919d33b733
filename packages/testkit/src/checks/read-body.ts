import { ValidationError } from '@tinkex/types';
import { type Codec, endpoints, parseJson } from '@tinkex/types/wire';
import type { Dialect, WireFormat } from '../dialects/dialect.js';
import { refuse } from '../exchange/message.js';
import { readSubmissionHead, type SubmissionHead } from '../proto/read-request.js';
import { serverProtobuf } from '../proto/server-protobuf.js';
import type { RecordedCall } from '../recorder/recorded-call.js';
import type { Recorder } from '../recorder/recorder.js';
import type { RouteName } from '../routes/route-types.js';
import type { RuleId } from '../rules/rules.js';
import type { Tenant } from '../state/tenant.js';
import { withoutUnknownFields } from './unknown-fields.js';

/** Fields that the protocol requires and the codecs fill in, because users of the SDK may leave them out. */
const REQUIRED_FIELDS: Partial<Record<RouteName, readonly string[]>> = { asample: ['sampling_params'] };

/** Endpoints whose description says that a wrong body gets 400 (`endpoints.md` 1); the others get 422. */
const BAD_REQUEST_ROUTES: ReadonlySet<RouteName> = new Set<RouteName>(['setCheckpointTtl', 'assignSessionProject']);

/** What there is to read. */
export interface BodyInput {
  readonly recorder: Recorder;
  readonly call: RecordedCall;
  readonly dialect: Dialect;
  /** Whether fields that are not documented are dropped instead of refused. */
  readonly acceptUnknownFields: boolean;
  readonly tenant: Tenant;
  readonly route: RouteName;
  readonly contentType: string | undefined;
  readonly body: Uint8Array;
}

/** Decodes the body of a request, or refuses it: 400 not readable, 415 wrong type, 422 wrong content. */
export function readBody(input: BodyInput): unknown {
  const endpoint = endpoints[input.route] as { readonly request?: Codec<unknown> };
  if (input.route === 'forwardBackward' || input.route === 'forward') {
    return readForwardBackward(input);
  }
  if (endpoint.request === undefined) {
    return undefined;
  }
  requireFormat(input, ['json']);
  return decodeJson(input, endpoint.request.decode);
}

function readForwardBackward(input: BodyInput): unknown {
  const formats: readonly WireFormat[] = input.route === 'forward' ? ['json'] : input.dialect.requestFormats;
  if (requireFormat(input, formats) === 'json') {
    return decodeJson(input, endpoints[input.route === 'forward' ? 'forward' : 'forwardBackward'].request.decode);
  }
  try {
    return serverProtobuf.forwardBackwardRequest.decode(input.body);
  } catch (error) {
    // A message that can be read but says something wrong has a place for it; one that cannot be read has none.
    const isReadable = ValidationError.isInstance(error) && error.issues.every(({ path }) => path !== '');
    if (!isReadable) {
      return refuseInvalid(input, 400, 'body-malformed', error);
    }
    skipNumber(input, readSubmissionHead(input.body));
    return refuseInvalid(input, 422, 'body-invalid', error);
  }
}

function requireFormat({ recorder, call, dialect, route, contentType = '' }: BodyInput, formats: readonly WireFormat[]): WireFormat {
  const format: WireFormat | undefined = /^application\/x-protobuf\b/i.test(contentType)
    ? 'protobuf'
    : /^application\/json\b/i.test(contentType)
      ? 'json'
      : undefined;
  if (format !== undefined && formats.includes(format)) {
    return format;
  }
  const detail = `${route} does not take the content type ${contentType === '' ? '(none)' : contentType}; it takes ${formats.join(' or ')}`;
  // Offering the other documented format is how a client finds out what a server speaks.
  const isOffer = format !== undefined && (route === 'forwardBackward' || route === 'forward');
  if (!isOffer) {
    recorder.violate(call, 'content-type', detail);
  }
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
    return decode(wire);
  } catch (error) {
    const known = input.acceptUnknownFields ? withoutUnknownFields(wire, error) : undefined;
    if (known !== undefined) {
      return decode(known);
    }
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

/** A refused submission uses its number up: those behind it must not wait for it. */
function skipNumber({ tenant }: BodyInput, head: SubmissionHead | undefined): void {
  if (head !== undefined) {
    tenant.models.get(head.modelId)?.lane.skip(head.seqId);
  }
}

/** The model and the number in a body that is wrong in other places; undefined when it names none. */
function headInJson(wire: unknown): SubmissionHead | undefined {
  const { model_id: modelId, seq_id: seqId } = (typeof wire === 'object' && wire !== null ? wire : {}) as Readonly<Record<string, unknown>>;
  return typeof modelId === 'string' && typeof seqId === 'number' ? { modelId, seqId } : undefined;
}

function hasNull(wire: unknown): boolean {
  return typeof wire === 'object' && wire !== null && Object.values(wire).some((value) => value === null);
}

/** A decoder that fails in any other way than by `ValidationError` is broken: that is ours to hear about, not the client's. */
function refuseInvalid({ recorder, call, route }: BodyInput, status: 400 | 422, rule: RuleId, error: unknown): never {
  if (!ValidationError.isInstance(error)) {
    throw error;
  }
  // The JSON reader is made for answers: its own words would blame the server.
  const reason = error.direction === 'request' ? error.message : error.issues.map(({ message }) => message).join('; ');
  const detail = `${route}: ${reason}`;
  recorder.violate(call, rule, detail);
  refuse(status, detail);
}
