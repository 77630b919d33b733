/** The page that explains every rule, generated from this table. */
const PROTOCOL_PAGE = 'https://github.com/tinkex/tinkex-ts/blob/main/docs/protocol/README.md';

/** The rules of the protocol that the server checks. Each has a section on the protocol page. */
export const PROTOCOL_RULES = {
  'route-unknown': 'Only the documented endpoints exist.',
  'method-not-allowed': 'Each endpoint has one method.',
  'api-key-missing': 'Every API request carries a credential in X-API-Key.',
  'api-key-unknown': 'The credential must be one that the server knows.',
  'jwt-not-used': 'With pjwt_auth_enabled, every request after the token exchange carries the JWT.',
  'content-type': 'POST, PUT and DELETE name the content type of their body.',
  'content-encoding': 'Only forward_backward bodies may be compressed, with zstd.',
  'content-length': 'A request to an endpoint without a body has none.',
  'body-too-large': 'A body stays below the size that the server takes.',
  'body-malformed': 'A JSON body is one valid JSON object; a protobuf body is one valid message.',
  'body-invalid': 'A body has the documented fields, of the documented types, and no others.',
  'query-invalid': 'A query has the documented names and values.',
  'field-null': 'Unset fields are left out, never sent as null.',
  'idempotency-key-missing': 'Every non-GET request carries X-Idempotency-Key.',
  'idempotency-key-reused': 'An idempotency key belongs to one call: retries repeat it with the same body.',
  'backpressure-header': 'asample carries X-Tinker-Sampling-Backpressure: 1.',
  'poll-iteration': 'A poll counts from 0 in X-Tinker-Request-Iteration.',
  'poll-request-type': 'A poll names its operation in X-Tinker-Request-Type.',
  'poll-roundtrip-time': 'The first poll of a future carries X-Tinker-Create-Promise-Roundtrip-Time, and no other does.',
  'poll-accept': 'A poll of a Sample, Forward or ForwardBackward future accepts protobuf.',
  'future-unknown': 'Only a request_id that the server gave out can be polled.',
  'session-unknown': 'A session_id must be one of this user, still alive.',
  'model-unknown': 'A model_id must be one of this user.',
  'sampler-unknown': 'A sampling_session_id must be one of this user.',
  'optimizer-mismatch': 'A step carries the settings of the optimizer that the model was created with.',
  'sequence-unknown': 'Provenance names sequences that the same session sampled.',
  'seq-missing': 'Training and sampling operations carry a seq_id.',
  'seq-conflict': 'A sequence ID belongs to one operation: a repeat has the same body.',
  'seq-order': 'This server takes operations only in the order of their seq_ids.',
  'sampler-source': 'A sampling session names a base_model or a tinker:// model_path.',
} as const satisfies Readonly<Record<string, string>>;

/** The name of a protocol rule. */
export type RuleId = keyof typeof PROTOCOL_RULES;

/** One breach of a protocol rule by a client. */
export interface Violation {
  readonly rule: RuleId;
  /** What the rule says. */
  readonly text: string;
  /** The section of the protocol page about the rule. */
  readonly url: string;
  /** What this request did. Never contains a credential. */
  readonly detail: string;
  /** The index of the call in `server.calls`. */
  readonly callIndex: number;
}

/** Something that a client did and the server put up with: a field newer than the protocol that the server knows. `verify()` passes. */
export interface Notice {
  /** What the request did. Never contains a credential. */
  readonly detail: string;
  /** The index of the first such call in `server.calls`. */
  readonly callIndex: number;
}

/** Describes a breach of `rule`. */
export function violationOf(rule: RuleId, detail: string, callIndex: number): Violation {
  return { rule, text: PROTOCOL_RULES[rule], url: `${PROTOCOL_PAGE}#${rule}`, detail, callIndex };
}

/** A breach as one line of a report. */
export function violationLine({ rule, text, url, detail, callIndex }: Violation): string {
  return `[${rule}] call ${callIndex}: ${detail}. ${text} (${url})`;
}

/** Thrown by `server.verify()`: everything the server complains about, one line each. */
export class VerificationError extends Error {
  override readonly name = 'VerificationError';
  /** One entry per complaint: a broken protocol rule, an unmet expectation, an unused script. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const count = `${problems.length} complaint${problems.length === 1 ? '' : 's'}`;
    super(`The test server has ${count}:\n${problems.map((line) => `  - ${line}`).join('\n')}`);
    this.problems = problems;
  }
}
