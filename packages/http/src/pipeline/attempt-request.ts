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
  headers: Readonly<Record<string, string>>;
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

/** The same request with other headers, at the least cost. */
export function withHeaders(request: TransportRequest, headers: Readonly<Record<string, string>>): TransportRequest {
  if (request instanceof AttemptRequest) {
    request.headers = headers;
    return request;
  }
  return { ...request, headers };
}
