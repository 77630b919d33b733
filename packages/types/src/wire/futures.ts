import type { RequestErrorCategory } from '../errors/future-errors.js';
import type { QueueState } from '../events/payloads.js';
import type { Codec } from './codec.js';
import { list } from './collections.js';
import { requestObject, requestType, responseObject, responseType } from './objects.js';
import { flag, integer, number, oneOf, text, tolerant } from './scalars.js';
import { anyValue } from './schema.js';
import { union } from './unions.js';
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
  get fields() {
    return anyUntypedApiFuture.fields;
  },
  encode: anyUntypedApiFuture.encode,
  decode(wire) {
    return readPlainFuture(wire) ?? anyUntypedApiFuture.decode(wire);
  },
};

/** Reads a lone ID, or one with the IDs of the samples, without a schema: every submission gets one of the two. */
function readPlainFuture(wire: unknown): UntypedApiFuture | undefined {
  if (typeof wire !== 'object' || wire === null) return undefined;
  const { request_id: requestId, sample_sequence_ids: ids } = wire as Readonly<Record<string, unknown>>;
  if (typeof requestId !== 'string') return undefined;
  const { length } = Object.keys(wire);
  if (length === 1) return { requestId };
  const isPlain = length === 2 && Array.isArray(ids) && ids.every((id) => typeof id === 'string');
  return isPlain ? { requestId, sampleSequenceIds: ids } : undefined;
}

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

/** Whose futures to request: those of one holder of a sampling session. */
export interface FuturesTarget {
  readonly type: 'sampling_session';
  readonly samplingSessionId: string;
  /** 0 for the creator of the sampling session, else the block of the copy. Default 0. */
  readonly clonedSamplerId?: number | undefined;
}

/** Requests which futures of a target have ended. */
export interface FuturesRetrieveRequest {
  readonly target: FuturesTarget;
  /** The cursor of the answer before. Default 0. */
  readonly prevCursor?: number | undefined;
  /** Seconds that the server may hold the request. Left out: the server decides. */
  readonly timeout?: number | undefined;
  /** Futures whose result has arrived: the server may drop it. Default none. */
  readonly retrievedRequestIds?: readonly string[] | undefined;
}

/** {@link FuturesRetrieveRequest} on the wire. */
export const futuresRetrieveRequest = requestObject<FuturesRetrieveRequest>('FuturesRetrieveRequest', {
  target: union<FuturesTarget, 'type'>('type', {
    sampling_session: requestType<Omit<FuturesTarget, 'type'>>({
      samplingSessionId: text(),
      clonedSamplerId: optional(integer({ min: 0 }), { fallback: () => 0 }),
    }),
  }),
  prevCursor: optional(integer(), { fallback: () => 0 }),
  timeout: optional(number({ min: 0 })),
  retrievedRequestIds: optional(list(text()), { fallback: () => [] }),
});

/** A future that has ended: its result or its error can be retrieved. */
export type FutureCompletion = FinishedFuture | { readonly state: 'failed'; readonly requestId: string };

/** A future that has a result. */
export interface FinishedFuture {
  readonly state: 'finished';
  readonly requestId: string;
  /** In bytes, if the server names it. */
  readonly responsePayloadUncompressedSize?: number | undefined;
}

/** The futures that have ended since the cursor of the request. */
export interface FuturesRetrieveResponse {
  readonly completions: readonly FutureCompletion[];
  /** For the next request. */
  readonly cursor: number;
}

/** {@link FuturesRetrieveResponse} on the wire. */
export const futuresRetrieveResponse = responseObject<FuturesRetrieveResponse>('FuturesRetrieveResponse', {
  completions: list(
    union<FutureCompletion, 'state'>('state', {
      finished: responseType<Omit<FinishedFuture, 'state'>>({
        requestId: text(),
        responsePayloadUncompressedSize: optional(integer()),
      }),
      failed: responseType({ requestId: text() }),
    }),
  ),
  cursor: integer(),
});

/** Stops the work for a future that has no waiter any more. */
export interface CancelFutureRequest {
  readonly requestId: string;
}

/** {@link CancelFutureRequest} on the wire. */
export const cancelFutureRequest = requestObject<CancelFutureRequest>('CancelFutureRequest', { requestId: text() });

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
  schema: () => anyValue,
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

/** No result is larger. Budgets add and subtract sizes, which must stay exact. */
const MAX_PAYLOAD_BYTES = 2 ** 40;

/** A number or numeric text. Anything else counts as 0: the size only orders the download of large results. */
const payloadSize: WireType<number> = {
  schema: () => anyValue,
  toWire: (value) => value,
  fromWire(wire) {
    const size = Number(wire);
    return Number.isFinite(size) && size > 0 ? Math.min(size, MAX_PAYLOAD_BYTES) : 0;
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
