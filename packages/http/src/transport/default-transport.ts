import { FetchTransport } from './fetch-transport.js';
import type { Transport } from './transport.js';
import { UndiciTransport, type UndiciTransportOptions } from './undici-transport.js';

/**
 * The network of this runtime: `UndiciTransport` in Node and Deno, `FetchTransport` in Bun, edge workers and wherever else undici is missing. It decides with
 * the first request. The options are undici's; `fetch` has settings of its runtime instead.
 *
 * @throws ConfigurationError when a proxy is not a URL.
 */
export function defaultTransport(options: UndiciTransportOptions = {}): Transport {
  return new UndiciTransport({ ...options, fallback: options.fallback ?? (() => new FetchTransport()) });
}
