import { type DeprecationNotice, HttpClient, jwtAuth, type RetryInfo, type Transport } from '@tinkex/http';
import type { RetryFailure } from '@tinkex/telemetry/reporter';
import { type ClientConfigResponse, type ClientDynamicConfigResponse, clientConfigResponse } from '@tinkex/types/wire';
import { isMissingEndpoint } from '../calls/attempt-failure.js';
import { EndpointCaller } from '../calls/endpoint-caller.js';
import { BillingPause } from '../limits/billing-pause.js';
import { notifyUser } from '../runtime/notify-user.js';
import type { Runtime } from '../runtime/runtime.js';
import { type Credential, chooseCredential, requireKey } from './credentials.js';
import type { ResolvedConnectionOptions } from './resolve-options.js';

/** The result of start-up: the server's configuration, and an HTTP client with the final credential. */
export interface Started {
  readonly http: HttpClient;
  readonly calls: EndpointCaller;
  readonly billingPause: BillingPause;
  readonly config: ClientConfigResponse;
  /** Undefined when the server has no such endpoint: then there is nothing to refresh. */
  readonly dynamicConfig: ClientDynamicConfigResponse | undefined;
  readonly credential: () => Promise<string>;
}

export interface StartParts extends Pick<Runtime, 'lifetime' | 'source'> {
  readonly options: ResolvedConnectionOptions;
  readonly transport: Transport;
  readonly onFailedRound: (failure: RetryFailure) => void;
  readonly onHttpRetry: (retry: RetryInfo) => void;
  readonly onDeprecation: (notice: DeprecationNotice) => void;
}

/** The reference client's window, until the server has named another. */
const DEFAULT_BILLING_WINDOW_MS = 3_600_000;

/** Fetches the configuration, exchanges the credential if the server requires that, and fetches what may change later. */
export async function startConnection(parts: StartParts, signal: AbortSignal): Promise<Started> {
  const clients: StartUpClient[] = [];
  const connectAs = (credential: Credential | undefined): StartUpClient => {
    const client = new StartUpClient(parts, credential);
    clients.push(client);
    return client;
  };
  try {
    return await start(parts.options, connectAs, signal);
  } catch (error) {
    // The next call starts again; what this start has created, such as a token that is refreshed, must not accumulate.
    for (const client of clients) client.close();
    throw error;
  }
}

type ConnectAs = (credential: Credential | undefined) => StartUpClient;

async function start(options: ResolvedConnectionOptions, connectAs: ConnectAs, signal: AbortSignal): Promise<Started> {
  const first = chooseCredential(options);
  const plain = connectAs(first);
  const config = await plain.clientConfig(signal);
  const { session, credential } = await authenticate(options, connectAs, plain, first, config, signal);
  const billingPause = session.useBillingWindow(config);
  const calls = session.createCaller(billingPause);
  const dynamicConfig = await session.dynamicConfig(calls, signal);
  return { http: session.http, calls, billingPause, config, dynamicConfig, credential };
}

async function authenticate(
  options: ResolvedConnectionOptions,
  connectAs: ConnectAs,
  plain: StartUpClient,
  first: Credential | undefined,
  config: ClientConfigResponse,
  signal: AbortSignal,
): Promise<{ session: StartUpClient; credential: () => Promise<string> }> {
  if (!config.pjwtAuthEnabled) {
    const credential = requireKey(first, options.isHosted);
    return { session: plain, credential: credential?.read ?? (async () => '') };
  }
  const isCommandRequired = config.credentialDefaultSource === 'credential_cmd';
  const source = chooseCredential(options, isCommandRequired);
  if (isCommandRequired && source?.isToken) return { session: plain, credential: source.read };
  const exchanger = connectAs(source);
  const auth = jwtAuth({ clock: options.clock, exchange: () => exchanger.exchange() });
  // The first exchange must succeed; a refresh may fail and leave the old token in use.
  await exchanger.startUpCaller.retry(async () => auth.headers(signal), { operation: 'authToken', signal });
  const session = connectAs({ auth, read: async () => auth.token ?? '', source: 'apiKey', isToken: true });
  return { session, credential: async () => auth.token ?? '' };
}

/** An HTTP client with one credential, and the calls that start-up makes with it. */
class StartUpClient {
  readonly http: HttpClient;
  readonly #parts: StartParts;
  readonly #forget: () => void;
  /** Follows the client's rules only, not yet the server's. */
  readonly startUpCaller: EndpointCaller;

  constructor(parts: StartParts, credential: Credential | undefined) {
    const { options, transport, source, onDeprecation } = parts;
    this.#parts = parts;
    const { baseUrl, headers, clock, random, sdkVersion, attemptTimeoutMs, maxRetries, query, middleware } = options;
    const auth = credential?.auth;
    this.http = new HttpClient({
      baseUrl,
      transport,
      headers,
      clock,
      random,
      sdkVersion,
      source,
      auth,
      attemptTimeoutMs,
      maxRetries,
      query,
      middleware,
      onDeprecation,
    });
    this.startUpCaller = this.createCaller(this.#billingPause(DEFAULT_BILLING_WINDOW_MS));
    this.#forget = parts.lifetime.onClose(() => void this.http.close());
  }

  /** Ends a failed start before the client is closed. */
  close(): void {
    this.#forget();
    void this.http.close();
  }

  createCaller(billingPause: BillingPause): EndpointCaller {
    const { options, lifetime, onFailedRound, onHttpRetry } = this.#parts;
    const { clock, maxRetryMs } = options;
    return new EndpointCaller({ http: this.http, clock, lifetime, billingPause, maxRetryMs, onFailedRound, onHttpRetry });
  }

  useBillingWindow(config: ClientConfigResponse): BillingPause {
    return this.#billingPause(config.billingExceptionMaxPauseDurationSec * 1000);
  }

  #billingPause(maxPauseMs: number): BillingPause {
    const { clock, onServerMessage } = this.#parts.options;
    return new BillingPause(clock, maxPauseMs, (level) => {
      const text =
        level === 'warning'
          ? 'The account is unpaid (status 402). Calls are paused and tried again every 5 s until it is paid.'
          : 'The account is still unpaid (status 402). Calls fail from now on.';
      notifyUser(onServerMessage, { level, text });
    });
  }

  /** Servers without this endpoint get the reference client's defaults. */
  async clientConfig(signal: AbortSignal): Promise<ClientConfigResponse> {
    const { sdkVersion } = this.#parts.options;
    try {
      return await this.startUpCaller.call('clientConfig', { body: { sdkVersion } }, { signal });
    } catch (error) {
      if (isMissingEndpoint(error)) return clientConfigResponse.decode({});
      throw error;
    }
  }

  async dynamicConfig(calls: EndpointCaller, signal: AbortSignal): Promise<ClientDynamicConfigResponse | undefined> {
    const { sdkVersion } = this.#parts.options;
    try {
      return await calls.call('clientDynamicConfig', { body: { sdkVersion } }, { signal, hasOuterRetry: true });
    } catch (error) {
      if (isMissingEndpoint(error)) return undefined;
      throw error;
    }
  }

  async exchange(): Promise<string> {
    const { jwt } = await this.startUpCaller.call('authToken', { body: {} }, { hasOuterRetry: false });
    return jwt;
  }
}
