import { stringifyJson } from '@tinkex/types/wire';
import { oversizedBody } from './unusable-response.js';

/**
 * The seam between the pipeline and the network. `UndiciTransport` is the real one; the testkit's `memoryTransport()` answers
 * in process; write your own to run elsewhere.
 */
export interface Transport {
  /**
   * Sends one request and resolves when the response's headers have arrived. Rejects with `ConnectionError`, `TimeoutError` or
   * `AbortedError`. Never retries, never follows redirects.
   */
  send(request: TransportRequest): Promise<TransportResponse>;
  /**
   * Drops the idle connections of a pool, so that the next request opens a new one. Called when an edge proxy seems to have
   * refused a connection. Optional: a transport without connections has nothing to drop.
   */
  recycle?(pool: string, origin: string): void;
  /** Frees what the transport owns. Idempotent. */
  close(): Promise<void>;
}

/** Sends a request on to the next layer. */
export type Send = (request: TransportRequest) => Promise<TransportResponse>;

/**
 * Your layer around each attempt. It runs inside the retries and the deadline and outside the credentials: it never sees the
 * key. Requests are read-only; pass a copy on: `next({ ...request, headers: { ...request.headers, 'x-trace': id } })`.
 * It may answer without `next` (`createResponse`), call `next` again, or throw; a `TinkexError` with `isRetryable` is retried.
 */
export type Middleware = (request: TransportRequest, next: Send) => Promise<TransportResponse>;

/** One request as a transport sends it. */
export interface TransportRequest {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** The name of the connection pool. */
  readonly pool: string;
  /** Use a connection that no other request uses, and close it afterwards. A transport without connections ignores it. */
  readonly isAlone?: boolean | undefined;
  /** `'manual'`: the pipeline returns a 3xx to the caller and does not follow it. Transports never follow. Default `'follow'`. */
  readonly redirect?: 'follow' | 'manual' | undefined;
  /** Aborting frees the socket, before or while the body is read. */
  readonly signal?: AbortSignal | undefined;
  /**
   * A cheap replacement for `signal`, present when there is no middleware. A transport listens to this one if it is there, else
   * to `signal`; it may ignore this one.
   */
  readonly cancellation?: Cancellation | undefined;
  /** Where a transport notes how far the request has come, so that a timeout can name the phase. */
  readonly progress?: RequestProgress | undefined;
}

/** Notifies one listener that the request is canceled. */
export interface Cancellation {
  /** Replaces the listener; `undefined` removes it. If the request is already canceled, the new listener is called immediately. */
  listen(listener: CancellationListener | undefined): void;
}

/** `reason` is the error that the request must reject with. */
export interface CancellationListener {
  cancelled(reason: Error): void;
}

/** How far a request has come. */
export interface RequestProgress {
  phase: 'connect' | 'headers' | 'body';
}

/** One response, its headers read and its body not yet. */
export interface TransportResponse {
  readonly status: number;
  /** Lower-case names; repeated headers joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: TransportBody;
}

/** A body is read once, by exactly one of these; `cancel` frees the connection without reading. */
export interface TransportBody extends AsyncIterable<Uint8Array> {
  /**
   * @param maxBytes - More than this rejects with `ValidationError` and frees the connection.
   */
  bytes(maxBytes?: number): Promise<Uint8Array>;
  cancel(): void;
}

/** What `createResponse` builds a response from. */
export interface ResponseInit {
  /** Default 200. */
  readonly status?: number | undefined;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Bytes or text are sent as they are, anything else as JSON. */
  readonly body?: unknown;
}

/** Builds a response in this process: for middleware that answers without `next`, and for transports of tests. */
export function createResponse({ status = 200, headers = {}, body }: ResponseInit = {}): TransportResponse {
  const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
  const content = isRaw ? (body ?? '') : stringifyJson(body as Parameters<typeof stringifyJson>[0]);
  const bytes = content instanceof Uint8Array ? content : new TextEncoder().encode(content);
  const type = isRaw ? {} : { 'content-type': 'application/json' };
  return {
    status,
    headers: { 'content-length': String(bytes.byteLength), ...type, ...headers },
    body: {
      async bytes(maxBytes = Number.POSITIVE_INFINITY) {
        if (bytes.byteLength > maxBytes) throw oversizedBody(maxBytes);
        return bytes;
      },
      cancel: () => undefined,
      async *[Symbol.asyncIterator]() {
        yield bytes;
      },
    },
  };
}
