import { AbortedError, ConfigurationError } from '@tinkex/types';
import type { buildConnector, Dispatcher, Pool } from 'undici';
import type { ProxySettings } from '../environment.js';
import { originOf, targetOf } from '../url/url.js';
import { loadUndici } from './load-undici.js';
import { proxySettings } from './proxy-settings.js';
import { publicLookup, refusePrivateHost } from './public-addresses.js';
import type { Transport, TransportRequest, TransportResponse } from './transport.js';
import { UndiciExchange } from './undici-exchange.js';
import { watched } from './watched-connection.js';

/**
 * Connections per pool of the protocol and origin. A long poll occupies its connection for as long as the server holds it, so
 * `retrieve_promise` has one for each of the 2,000 calls that a sampling session may have in flight.
 */
const POOL_CONNECTIONS: Readonly<Record<string, number>> = {
  session: 50,
  sample: 256,
  train: 256,
  rest_support_redirect: 50,
  retrieve_promise: 2048,
  retrieve_futures: 50,
  telemetry: 8,
  auth: 4,
};
const DEFAULT_CONNECTIONS = 256;

/** Options of `UndiciTransport`. */
export interface UndiciTransportOptions {
  /** Connections per pool name and origin. Merged over the protocol's defaults; unnamed pools get 256. */
  readonly pools?: Readonly<Record<string, number>> | undefined;
  /** Time limit for opening a connection, milliseconds. Default 5,000. */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * How long an idle connection is kept, milliseconds. Default 4,000: below the 5 s after which common servers hang up. A limit
   * that the server announces is respected up to 60 s.
   */
  readonly keepAliveTimeoutMs?: number | undefined;
  /** Offers HTTP/2 in the TLS handshake. Default false: it costs several times the CPU of HTTP/1.1 per request. */
  readonly http2?: boolean | undefined;
  /** Certificates for TLS connections, PEM. Default: the runtime's. */
  readonly ca?: string | readonly string[] | undefined;
  /** `'environment'` (default) reads HTTP_PROXY, HTTPS_PROXY and NO_PROXY; `false` never uses a proxy; or name the proxies here. */
  readonly proxy?: 'environment' | false | Partial<ProxySettings> | undefined;
  /**
   * Whether addresses of this machine and of private networks may be connected to. `false` refuses them, written out or behind a name, with a
   * `ConnectionError`: for URLs that another party chooses. Through a proxy, which resolves names itself, only written out. Default true.
   */
  readonly allowPrivateAddresses?: boolean | undefined;
  /** Your undici dispatcher, used for every request. It replaces all options above. You close it. */
  readonly dispatcher?: Dispatcher | undefined;
  /**
   * Creates what sends the requests of a runtime without a usable undici, such as Bun or an edge worker. Closed together with this transport.
   * Default: none, and the first request fails there.
   */
  readonly fallback?: (() => Transport) | undefined;
}

/**
 * The network: undici with one pool of keep-alive connections per pool name and origin. The pipeline has the deadlines, so
 * undici's header and body timeouts are off. undici is loaded with the first request.
 *
 * @example
 * ```ts
 * import { UndiciTransport } from '@tinkex/http';
 * await using transport = new UndiciTransport({ pools: { sample: 64 } });
 * ```
 */
export class UndiciTransport implements Transport {
  readonly #options: UndiciTransportOptions;
  readonly #proxy: ProxySettings | undefined;
  readonly #dispatchers = new Map<string, Map<string, Dispatcher>>();
  /** Recycled, with requests still in flight. */
  readonly #retired = new Set<Dispatcher>();
  readonly #isPublicOnly: boolean;
  #undici: typeof import('undici') | undefined;
  #fallback: Transport | undefined;
  #closing: Promise<void> | undefined;

  /** @throws ConfigurationError when a proxy is not a URL. */
  constructor(options: UndiciTransportOptions = {}) {
    this.#options = options;
    this.#isPublicOnly = options.allowPrivateAddresses === false && options.dispatcher === undefined;
    if (options.dispatcher === undefined) this.#proxy = proxySettings(options.proxy ?? 'environment');
  }

  send(request: TransportRequest): Promise<TransportResponse> {
    if (this.#closing !== undefined) return Promise.reject(new AbortedError({ message: 'The transport is closed.' }));
    if (this.#undici === undefined && this.#options.dispatcher === undefined) {
      return this.#fallback === undefined ? this.#load().then(() => this.send(request)) : this.#fallback.send(request);
    }
    const origin = originOf(request.url);
    return new Promise((resolve, reject) => {
      if (this.#isPublicOnly) refusePrivateHost(request.url);
      const exchange = new UndiciExchange(request, origin, resolve, reject);
      if (exchange.isCancelled) return;
      this.#dispatcher(request, origin).dispatch(
        {
          origin,
          path: targetOf(request.url, origin),
          method: request.method as Dispatcher.HttpMethod,
          headers: request.headers as Record<string, string>,
          body: request.body ?? null,
        },
        exchange,
      );
    });
  }

  async #load(): Promise<void> {
    this.#undici = await loadUndici();
    if (this.#undici !== undefined) return;
    this.#fallback ??= this.#options.fallback?.();
    if (this.#fallback !== undefined) return;
    const message = 'This runtime has no usable undici. Use FetchTransport of @tinkex/http/fetch, or no transport option at all.';
    throw new ConfigurationError({ message, option: 'transport' });
  }

  recycle(pool: string, origin: string): void {
    if (this.#options.dispatcher !== undefined) return;
    const byOrigin = this.#dispatchers.get(pool);
    const key = this.#keyOf(origin);
    const dispatcher = byOrigin?.get(key);
    if (dispatcher === undefined) return;
    byOrigin?.delete(key);
    // Requests in flight on the old connections finish there, unless the transport is closed first.
    this.#retired.add(dispatcher);
    const forget = (): unknown => this.#retired.delete(dispatcher);
    dispatcher.close().then(forget, forget);
  }

  close(): Promise<void> {
    this.#closing ??= this.#destroyAll();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #destroyAll(): Promise<void> {
    const owned = [...this.#retired, ...[...this.#dispatchers.values()].flatMap((byOrigin) => [...byOrigin.values()])];
    this.#dispatchers.clear();
    await Promise.all([this.#fallback?.close(), ...owned.map((dispatcher) => dispatcher.destroy())]);
  }

  #dispatcher({ pool, isAlone = false }: TransportRequest, origin: string): Dispatcher {
    if (this.#options.dispatcher !== undefined) return this.#options.dispatcher;
    const name = isAlone ? `${pool}, alone` : pool;
    let byOrigin = this.#dispatchers.get(name);
    if (byOrigin === undefined) {
      byOrigin = new Map();
      this.#dispatchers.set(name, byOrigin);
    }
    const key = this.#keyOf(origin);
    let dispatcher = byOrigin.get(key);
    if (dispatcher === undefined) {
      dispatcher = this.#createDispatcher(this.#poolOptions(pool, isAlone), origin);
      byOrigin.set(key, dispatcher);
    }
    return dispatcher;
  }

  #createDispatcher(options: Pool.Options, origin: string): Dispatcher {
    const { buildConnector, EnvHttpProxyAgent, Pool } = this.#undici as typeof import('undici');
    const connect = this.#connectOptions();
    const tls = { ...connect, allowH2: this.#options.http2 ?? false };
    const direct = this.#isPublicOnly ? { ...tls, lookup: publicLookup } : tls;
    const poolOf = (of: string | URL, { connect: tunnel }: Pick<Pool.Options, 'connect'>): Pool =>
      new Pool(of, { ...options, connect: watched(typeof tunnel === 'function' ? tunnel : buildConnector(direct)) });
    if (this.#proxy === undefined) return poolOf(origin, {});
    // A proxy agent connects to the proxy and through it with the same options under other names.
    return new EnvHttpProxyAgent({ ...options, proxyTls: connect, requestTls: tls, ...this.#proxy, factory: poolOf });
  }

  /** A proxy agent sorts by origin itself. */
  #keyOf(origin: string): string {
    return this.#proxy === undefined ? origin : '';
  }

  #poolOptions(pool: string, isAlone: boolean): Pool.Options {
    const { pools, keepAliveTimeoutMs, http2 } = this.#options;
    return {
      connections: pools?.[pool] ?? POOL_CONNECTIONS[pool] ?? DEFAULT_CONNECTIONS,
      // 0 closes each connection after one request.
      pipelining: isAlone ? 0 : 1,
      keepAliveTimeout: keepAliveTimeoutMs ?? 4_000,
      keepAliveMaxTimeout: Math.max(60_000, keepAliveTimeoutMs ?? 0),
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: http2 ?? false,
    };
  }

  #connectOptions(): buildConnector.BuildOptions {
    const { connectTimeoutMs, ca } = this.#options;
    return { timeout: connectTimeoutMs ?? 5_000, ...(ca === undefined ? {} : { ca: typeof ca === 'string' ? ca : [...ca] }) };
  }
}
