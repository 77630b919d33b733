/** The rules of the protocol that the server watches. Each has a text and the place in the protocol pages that says so. */
export const protocolRules = {
  'route-unknown': { text: 'Only the documented endpoints exist.', where: 'endpoints.md 1' },
  'method-not-allowed': { text: 'Each endpoint has one method.', where: 'endpoints.md 1' },
  'api-key-missing': { text: 'Every API request carries a credential in X-API-Key.', where: 'README.md 8' },
  'api-key-unknown': { text: 'The credential must be one the server knows.', where: 'README.md 9.1' },
  'jwt-not-used': { text: 'With pjwt_auth_enabled, every request after the context carries the JWT.', where: 'README.md 9.2' },
  'content-type': { text: 'POST, PUT and DELETE name the content type of their body.', where: 'README.md 8' },
  'content-encoding': { text: 'Only forward_backward bodies may be compressed, by zstd.', where: 'README.md 10' },
  'content-length': { text: 'A request to an endpoint without a body has none.', where: 'endpoints.md 20' },
  'body-too-large': { text: 'A body stays below the size the server takes.', where: 'README.md 19' },
  'body-malformed': { text: 'A JSON body is one valid JSON object; a protobuf body is one valid message.', where: 'types.md 1' },
  'body-invalid': { text: 'A body has the documented fields, of the documented types, and no others.', where: 'types.md 1' },
  'query-invalid': { text: 'A query has the documented names and values.', where: 'endpoints.md 18' },
  'field-null': { text: 'Unset fields are left out, never sent as null.', where: 'types.md 1' },
  'idempotency-key-missing': { text: 'Every non-GET request carries X-Idempotency-Key.', where: 'README.md 8' },
  'idempotency-key-reused': { text: 'An idempotency key belongs to one call: retries repeat it with the same body.', where: 'README.md 8' },
  'backpressure-header': { text: 'asample carries X-Tinker-Sampling-Backpressure: 1.', where: 'endpoints.md 15' },
  'poll-iteration': { text: 'A poll carries its number from 0 in X-Tinker-Request-Iteration.', where: 'futures-and-retries.md 2.2' },
  'poll-request-type': { text: 'A poll names its operation in X-Tinker-Request-Type.', where: 'futures-and-retries.md 2.2' },
  'poll-roundtrip-time': {
    text: 'The first poll of a future carries X-Tinker-Create-Promise-Roundtrip-Time, and no other does.',
    where: 'futures-and-retries.md 2.2',
  },
  'poll-accept': { text: 'A poll of a Sample, Forward or ForwardBackward future accepts protobuf.', where: 'README.md 8' },
  'future-unknown': { text: 'Only a request_id the server gave out can be polled.', where: 'endpoints.md 17' },
  'session-unknown': { text: 'A session_id must be one of this user, still alive.', where: 'README.md 4.5' },
  'model-unknown': { text: 'A model_id must be one of this user.', where: 'README.md 1' },
  'sampler-unknown': { text: 'A sampling_session_id must be one of this user.', where: 'README.md 1' },
  'seq-missing': { text: 'Training and sampling operations carry a seq_id.', where: 'README.md 3' },
  'seq-conflict': { text: 'A sequence number belongs to one operation: a repeat has the same body.', where: 'README.md 17.4' },
  'seq-order': { text: 'This server takes operations only in the order of their seq_ids.', where: 'other-servers.md 2' },
  'sampler-source': { text: 'A sampling session names a base_model or a tinker:// model_path.', where: 'endpoints.md 6' },
} as const satisfies Record<string, { readonly text: string; readonly where: string }>;

/** The name of a protocol rule. */
export type RuleId = keyof typeof protocolRules;

/** One breach of a protocol rule by a client. */
export interface Violation {
  readonly rule: RuleId;
  /** What the rule says. */
  readonly text: string;
  /** Which protocol page and section says it. */
  readonly where: string;
  /** What this request did. Never contains a credential. */
  readonly detail: string;
  /** The number of the call in `server.calls`. */
  readonly callIndex: number;
}

/** Makes a violation of `rule`. */
export function violation(rule: RuleId, detail: string, callIndex: number): Violation {
  const { text, where } = protocolRules[rule];
  return { rule, text, where, detail, callIndex };
}
