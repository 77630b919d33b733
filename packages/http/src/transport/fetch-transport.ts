import { AbortedError, ConfigurationError } from '@tinkex/types';
import { originOf } from '../url/url.js';
import { FetchExchange } from './fetch-exchange.js';
import type { Transport, TransportRequest, TransportResponse } from './transport.js';

/** Options of `FetchTransport`. */
export interface FetchTransportOptions {
  /** Default: the global `fetch` at the time of each request. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Added to the options of each `fetch`: whatever your runtime offers, such as Bun's `proxy` or `tls`. */
  readonly init?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The network by the runtime's own `fetch`: for Bun, edge workers, service bindings, and tests with msw. In Node, undici is faster: this takes several times
 * its CPU per request.
 *
 * Connections, proxies and certificates are the runtime's. The time limit of an attempt covers the connection, whose phase `fetch` does not report.
 *
 * @example
 * ```ts
 * import { HttpClient } from '@tinkex/http';
 * import { FetchTransport } from '@tinkex/http/fetch';
 *
 * await using transport = new FetchTransport();
 * await using client = new HttpClient({ baseUrl: 'https://api.example.com', transport });
 * ```
 */
export class FetchTransport implements Transport {
  readonly #options: FetchTransportOptions;
  readonly #open = new Set<FetchExchange>();
  #isClosed = false;

  constructor(options: FetchTransportOptions = {}) {
    this.#options = options;
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    if (this.#isClosed) throw new AbortedError({ message: 'The transport is closed.' });
    const { fetch = globalThis.fetch, init } = this.#options;
    if (typeof fetch !== 'function') {
      throw new ConfigurationError({ message: 'This runtime has no fetch. Pass it: new FetchTransport({ fetch }).', option: 'transport' });
    }
    const exchange = new FetchExchange(request, originOf(request.url), () => this.#open.delete(exchange));
    this.#open.add(exchange);
    return exchange.run((url, options) => fetch(url, { ...init, ...options }));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const exchange of [...this.#open]) exchange.cancelled(new AbortedError({ message: 'The transport is closed.' }));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
