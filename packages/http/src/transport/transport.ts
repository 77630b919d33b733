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
  /** Frees what the transport owns. Idempotent. */
  close(): Promise<void>;
}

export interface TransportRequest {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The name of the connection pool. */
  readonly pool: string;
  /** Aborting frees the socket, before or while the body is read. */
  readonly signal?: AbortSignal;
}

export interface TransportResponse {
  readonly status: number;
  /** Lower-case names; repeated headers joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: TransportBody;
}

/** A body is read once, by exactly one of these; `cancel` frees the connection without reading. */
export interface TransportBody extends AsyncIterable<Uint8Array> {
  bytes(maxBytes?: number): Promise<Uint8Array>;
  cancel(): void;
}
