import { FetchTransport } from './fetch-transport.js';
import { loadUndici } from './load-undici.js';
import type { Transport, TransportRequest, TransportResponse } from './transport.js';
import { UndiciTransport, type UndiciTransportOptions } from './undici-transport.js';

/**
 * The network of this runtime: `UndiciTransport` in Node and Deno, `FetchTransport` in Bun, edge workers and wherever else undici is missing. It decides with
 * the first request. The options are undici's; `fetch` has settings of its runtime instead.
 *
 * @throws ConfigurationError when a proxy is not a URL.
 */
export function defaultTransport(options: UndiciTransportOptions = {}): Transport {
  return new RuntimeTransport(new UndiciTransport(options), options.dispatcher !== undefined);
}

class RuntimeTransport implements Transport {
  readonly #undici: UndiciTransport;
  #chosen: Transport | undefined;
  #isClosed = false;

  /** @param isFixed - The user's own dispatcher works in any runtime. */
  constructor(undici: UndiciTransport, isFixed: boolean) {
    this.#undici = undici;
    if (isFixed) this.#chosen = undici;
  }

  send(request: TransportRequest): Promise<TransportResponse> {
    return this.#chosen === undefined ? this.#choose().then((transport) => transport.send(request)) : this.#chosen.send(request);
  }

  recycle(pool: string, origin: string): void {
    this.#chosen?.recycle?.(pool, origin);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#undici.close(), this.#chosen?.close()]);
  }

  async #choose(): Promise<Transport> {
    const undici = await loadUndici();
    if (this.#chosen === undefined) {
      this.#chosen = undici === undefined ? new FetchTransport() : this.#undici;
      if (this.#isClosed) await this.#chosen.close();
    }
    return this.#chosen;
  }
}
