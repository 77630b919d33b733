import type { TransportRequest, TransportResponse } from '../transport/transport.js';

/** Sends a request onwards. */
export type Send = (request: TransportRequest) => Promise<TransportResponse>;

/**
 * Your own layer around each attempt. It runs inside the retries and the deadline and outside the credentials: it never sees
 * the key. Requests are read-only; pass a copy on: `next({ ...request, headers: { ...request.headers, 'x-trace': id } })`.
 * It may answer by itself (`createResponse`), call `next` again, or throw; `TinkexError`s with `isRetryable` are retried.
 */
export type Middleware = (request: TransportRequest, next: Send) => Promise<TransportResponse>;
