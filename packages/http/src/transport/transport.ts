/**
 * The seam between the pipeline and the network. `UndiciTransport` is the real one; the testkit's `memoryTransport()` answers
 * in process; write your own to run elsewhere.
 */
export interface Transport {
  /**
   * Sends one request and resolves when the response's headers are there. Rejects with `ConnectionError`, `TimeoutError` or
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

/** One request as a transport sends it. */
export interface TransportRequest {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The name of the connection pool. */
  readonly pool: string;
  /** `'manual'`: the pipeline hands a 3xx to the caller instead of following it. Transports never follow. Default `'follow'`. */
  readonly redirect?: 'follow' | 'manual';
  /** Aborting frees the socket, before or while the body is read. */
  readonly signal?: AbortSignal;
  /**
   * The same news as `signal` at a tenth of its price, offered when no middleware stands in between. A transport listens to
   * this one if it is there, else to `signal`; it may ignore this one altogether.
   */
  readonly cancellation?: Cancellation;
  /** Where a transport notes how far the request has come, so that a timeout can name the phase. */
  readonly progress?: RequestProgress;
}

/** Tells one listener that the request is no longer wanted. */
export interface Cancellation {
  /** Replaces the listener; `undefined` removes it. A request that is already cancelled tells the new listener at once. */
  listen(listener: CancellationListener | undefined): void;
}

/** Who is told: `reason` is the error that the request must reject with. */
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
