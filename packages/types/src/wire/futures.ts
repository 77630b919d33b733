import { z } from 'zod';
import type { RequestErrorCategory } from '../errors/future-errors.js';
import type { QueueState } from '../events/payloads.js';
import type { Codec } from './codec.js';
import { list } from './collections.js';
import { requestObject, responseObject } from './objects.js';
import { flag, oneOf, text, tolerant } from './scalars.js';
import { filled, optional, type WireType } from './wire-type.js';

/** The future of a result. */
export interface UntypedApiFuture {
  readonly requestId: string;
  readonly modelId?: string | undefined;
  /** Newer servers name each sample they will make. */
  readonly sampleSequenceIds?: readonly string[] | undefined;
}

const anyUntypedApiFuture = responseObject<UntypedApiFuture>('UntypedApiFuture', {
  requestId: text(),
  modelId: optional(text()),
  sampleSequenceIds: optional(list(text())),
});

/** {@link UntypedApiFuture} on the wire. */
export const untypedApiFuture: Codec<UntypedApiFuture> = {
  name: anyUntypedApiFuture.name,
  get schema() {
    return anyUntypedApiFuture.schema;
  },
  encode: anyUntypedApiFuture.encode,
  decode(wire) {
    // A lone ID, which is what servers usually send, needs no schema: every submission gets this answer.
    if (typeof wire === 'object' && wire !== null && Object.keys(wire).length === 1) {
      const { request_id: requestId } = wire as { readonly request_id?: unknown | undefined };
      if (typeof requestId === 'string') return { requestId };
    }
    return anyUntypedApiFuture.decode(wire);
  },
};

/** Requests the result of a future. */
export interface FutureRetrieveRequest {
  readonly requestId: string;
  /** Whether the answer may be only the size if the result is large. Default false. */
  readonly allowMetadataOnly?: boolean | undefined;
}

/** {@link FutureRetrieveRequest} on the wire. */
export const futureRetrieveRequest = requestObject<FutureRetrieveRequest>('FutureRetrieveRequest', {
  requestId: text(),
  allowMetadataOnly: optional(flag(), { fallback: () => false }),
});

/** The result does not exist yet. */
export interface TryAgainResponse {
  readonly requestId?: string | undefined;
  /** Anything the client does not know is `unknown`. */
  readonly queueState: QueueState;
  /** In the server's words. */
  readonly queueStateReason?: string | undefined;
}

const QUEUE_STATES: readonly string[] = ['active', 'paused_capacity', 'paused_rate_limit'];

/** The state that a text of the wire means. */
export function readQueueState(wire: unknown): QueueState {
  return typeof wire === 'string' && QUEUE_STATES.includes(wire) ? (wire as QueueState) : 'unknown';
}

/** Text, or undefined for anything else: a pending answer must not fail because of a detail. */
const looseText: WireType<string> = {
  schema: () => z.unknown(),
  toWire: (value) => value,
  fromWire: (wire) => (typeof wire === 'string' ? wire : (undefined as unknown as string)),
};

/** {@link TryAgainResponse} on the wire. */
export const tryAgainResponse = responseObject<TryAgainResponse>(
  'TryAgainResponse',
  {
    requestId: optional(looseText),
    queueState: filled(tolerant(readQueueState), () => 'unknown'),
    queueStateReason: optional(looseText),
  },
  { tag: 'try_again' },
);

/** The result exists but is large: the answer is only its size. */
export interface FutureMetadataResponse {
  readonly status: 'complete_metadata';
  /** In bytes; 0 when the server does not say. */
  readonly responsePayloadSize: number;
}

/** A number or numeric text. Anything else counts as 0: the size only orders the download of large results. */
const payloadSize: WireType<number> = {
  schema: () => z.unknown(),
  toWire: (value) => value,
  fromWire(wire) {
    const size = Number(wire);
    return Number.isFinite(size) && size > 0 ? size : 0;
  },
};

/** {@link FutureMetadataResponse} on the wire. */
export const futureMetadataResponse = responseObject<FutureMetadataResponse>('FutureMetadataResponse', {
  status: oneOf('complete_metadata'),
  responsePayloadSize: filled(payloadSize, () => 0),
});

/** The operation failed. */
export interface RequestFailedResponse {
  /** In the server's words. */
  readonly error: string;
  /** Read in any letter case; anything the client does not know is `unknown`. */
  readonly category: RequestErrorCategory;
}

function readCategory(wire: unknown): RequestErrorCategory {
  const name =
    typeof wire === 'string'
      ? wire
          .trim()
          .toLowerCase()
          .replace(/^.*\./, '')
          .replace(/[_ -]?error$/, '')
      : '';
  return name === 'user' || name === 'server' ? name : 'unknown';
}

/** The text of a failure, whatever its type: a failure must be readable. */
function readFailure(wire: unknown): string {
  if (typeof wire === 'string') return wire;
  try {
    return JSON.stringify(wire) ?? 'unknown error';
  } catch {
    return 'unknown error';
  }
}

/** {@link RequestFailedResponse} on the wire. */
export const requestFailedResponse = responseObject<RequestFailedResponse>('RequestFailedResponse', {
  error: filled(tolerant<string>(readFailure), () => 'unknown error'),
  category: filled(tolerant(readCategory), () => 'unknown'),
});
