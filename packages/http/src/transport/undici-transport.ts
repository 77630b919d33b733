import { AbortedError } from '@tinkex/types';
import { type buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import type { ProxySettings } from '../environment.js';
import { originOf, targetOf } from '../url/join-url.js';
import { Exchange } from './exchange.js';
import { DEFAULT_CONNECTIONS, DEFAULT_POOL_CONNECTIONS } from './pool-limits.js';
import { proxySettings } from './proxy-settings.js';
import type { Transport, TransportRequest, TransportResponse } from './transport.js';

/** Options of `UndiciTransport`. */
export interface UndiciTransportOptions {
  /** Connections per pool name and origin. Merged over the protocol's defaults; unnamed pools get 256. */
  readonly pools?: Readonly<Record<string, number>>;
  /** Time limit for opening a connection, milliseconds. Default 5,000. */
  readonly connectTimeoutMs?: number;
  /**
   * How long an idle connection is kept, milliseconds. Default 4,000: below the 5 s after which common servers hang up. A
   * server that announces its own limit is believed up to 60 s.
   */
  readonly keepAliveTimeoutMs?: number;
  /** Offers HTTP/2 in the TLS handshake. Default false: it costs several times the CPU of HTTP/1.1 per request. */
  readonly http2?: boolean;
  /** Certificates for TLS connections, PEM. Default: the runtime's. */
  readonly ca?: string | readonly string[];
  /** `'environment'` (default) obeys HTTP_PROXY, HTTPS_PROXY and NO_PROXY; `false` never uses a proxy; or name the proxies here. */
  readonly proxy?: 'environment' | false | Partial<ProxySettings>;
  /** Your own undici dispatcher for every request. Pools, proxies and timeouts above are then yours. It is never closed by us. */
  readonly dispatcher?: Dispatcher;
}

/**
 * The network: undici with one pool of keep-alive connections for each pool name and origin. Deadlines are the pipeline's, so
 * undici's own header and body timeouts are off.
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
  /** Recycled, but not yet done with what was under way. */
  readonly #retired = new Set<Dispatcher>();
  #closing: Promise<void> | undefined;

  /** @throws ConfigurationError when a proxy's name is no URL. */
  constructor(options: UndiciTransportOptions = {}) {
    this.#options = options;
    if (options.dispatcher === undefined) this.#proxy = proxySettings(options.proxy ?? 'environment');
  }

  send(request: TransportRequest): Promise<TransportResponse> {
    if (this.#closing !== undefined) return Promise.reject(new AbortedError({ message: 'The transport is closed.' }));
    const origin = originOf(request.url);
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(request, origin, resolve, reject);
      if (exchange.isCancelled) return;
      this.#dispatcher(request.pool, origin).dispatch(
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

  recycle(pool: string, origin: string): void {
    if (this.#options.dispatcher !== undefined) return;
    const byOrigin = this.#dispatchers.get(pool);
    const key = this.#proxy === undefined ? origin : '';
    const dispatcher = byOrigin?.get(key);
    if (dispatcher === undefined) return;
    byOrigin?.delete(key);
    // Requests that are under way on the old connections finish there, unless the transport is closed first.
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
    await Promise.all(owned.map((dispatcher) => dispatcher.destroy()));
  }

  #dispatcher(pool: string, origin: string): Dispatcher {
    if (this.#options.dispatcher !== undefined) return this.#options.dispatcher;
    let byOrigin = this.#dispatchers.get(pool);
    if (byOrigin === undefined) {
      byOrigin = new Map();
      this.#dispatchers.set(pool, byOrigin);
    }
    // A proxy agent sorts by origin itself.
    const key = this.#proxy === undefined ? origin : '';
    let dispatcher = byOrigin.get(key);
    if (dispatcher === undefined) {
      dispatcher =
        this.#proxy === undefined
          ? new Pool(origin, this.#poolOptions(pool))
          : new EnvHttpProxyAgent({ ...this.#poolOptions(pool), ...this.#tunnelOptions(), ...this.#proxy });
      byOrigin.set(key, dispatcher);
    }
    return dispatcher;
  }

  #poolOptions(pool: string): Pool.Options {
    const { pools, keepAliveTimeoutMs, http2 } = this.#options;
    return {
      connections: pools?.[pool] ?? DEFAULT_POOL_CONNECTIONS[pool] ?? DEFAULT_CONNECTIONS,
      connect: this.#connectOptions(),
      keepAliveTimeout: keepAliveTimeoutMs ?? 4_000,
      keepAliveMaxTimeout: Math.max(60_000, keepAliveTimeoutMs ?? 0),
      headersTimeout: 0,
      bodyTimeout: 0,
      allowH2: http2 ?? false,
    };
  }

  /** A proxy agent makes its connections (to the proxy, and through it) by itself, and asks for the same options by other names. */
  #tunnelOptions(): EnvHttpProxyAgent.Options {
    return { proxyTls: this.#connectOptions(), requestTls: { ...this.#connectOptions(), allowH2: this.#options.http2 ?? false } };
  }

  #connectOptions(): buildConnector.BuildOptions {
    const { connectTimeoutMs, ca } = this.#options;
    return { timeout: connectTimeoutMs ?? 5_000, ...(ca === undefined ? {} : { ca: typeof ca === 'string' ? ca : [...ca] }) };
  }
}
