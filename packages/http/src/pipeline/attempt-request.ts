import type { Cancellation, RequestProgress, TransportRequest } from '../transport/transport.js';
import type { Call } from './call.js';

/** What an attempt offers to those below it. */
interface AttemptHandle extends Cancellation, RequestProgress {
  readonly signal: AbortSignal;
}

/** The request of one attempt. Its `signal` comes into being when somebody asks for it. */
export class AttemptRequest implements TransportRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array;
  readonly pool: string;
  readonly cancellation: Cancellation;
  readonly progress: RequestProgress;
  readonly redirect: 'follow' | 'manual';
  readonly #attempt: AttemptHandle;

  constructor(call: Call, attempt: AttemptHandle) {
    this.method = call.method;
    this.url = call.url;
    this.headers = call.headers;
    if (call.body !== undefined) this.body = call.body;
    this.pool = call.pool;
    this.cancellation = attempt;
    this.progress = attempt;
    this.redirect = call.redirect;
    this.#attempt = attempt;
  }

  get signal(): AbortSignal {
    return this.#attempt.signal;
  }

  /** For user middleware, which copies requests by spreading and may put a signal of its own in place. */
  toPlain(): TransportRequest {
    const { method, url, headers, body, pool, signal, progress, redirect } = this;
    return { method, url, headers: { ...headers }, ...(body === undefined ? {} : { body }), pool, signal, progress, redirect };
  }
}

/**
 * The same request with more headers. An attempt's own headers belong to it alone, so they are added in place; a request that
 * has been through user middleware is copied.
 */
export function addHeaders(request: TransportRequest, added: Readonly<Record<string, string>>): TransportRequest {
  if (!(request instanceof AttemptRequest)) return { ...request, headers: { ...request.headers, ...added } };
  for (const name in added) request.headers[name] = added[name] as string;
  return request;
}
