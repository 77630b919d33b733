import { defaultTransport, type HttpClient, type RetryInfo, type Transport, UndiciTransport } from '@tinkex/http';
import { randomUuid } from '@tinkex/http/runtime';
import { outerRetryReport, ServiceReporter } from '@tinkex/telemetry/reporter';
import type { EventSource } from '@tinkex/types';
import type { EndpointCaller } from '../calls/endpoint-caller.js';
import type { CallOptions } from '../runtime/call-options.js';
import { CallScope, ClientLifetime, clientClosed } from '../runtime/call-scope.js';
import type { Runtime } from '../runtime/runtime.js';
import { SharedWork } from '../runtime/shared-work.js';
import type { Trouble } from '../runtime/wait-for.js';
import { chooseCredential } from './credentials.js';
import { showNotesOnce } from './deprecation-notes.js';
import { FailureReports } from './failure-reports.js';
import type { ResolvedConnectionOptions } from './resolve-options.js';
import { type Started, startConnection } from './start-connection.js';

/** How long `close()` waits for the last reports. */
const LAST_REPORT_MS = 1_000;

/** A call's options with the signal that covers its time limit, start included. */
export type Step<Options> = Omit<Options, 'timeoutMs'> & { readonly signal: AbortSignal; readonly timeoutMs?: undefined };

/** What a started connection gives the clients on it. */
export interface ConnectionParts {
  readonly runtime: Runtime;
  /** The network below `http`: no retries, no credential. For signed URLs of other hosts. */
  readonly transport: Transport;
  /** The same for download addresses that the server hands out, under the user's rules for them. */
  readonly downloadTransport: Transport;
  readonly http: HttpClient;
  readonly calls: EndpointCaller;
  /** The credential in use now. Never log, store or publish it. */
  readonly credential: () => Promise<string>;
  /** Whether the credential is a token that the server issued for the API key. */
  readonly isCredentialExchanged: boolean;
  /** The reference version reported to the server. */
  readonly sdkVersion: string;
}

/**
 * One connection to one server with one credential. The constructor makes no request: configuration and credential exchange follow with the
 * first call. Needs no session.
 */
export class Connection<Parts extends ConnectionParts = ConnectionParts> {
  readonly runtime: Runtime;
  readonly reports = new FailureReports((sessionId) => this.#createReporter(sessionId));
  readonly #options: ResolvedConnectionOptions;
  readonly #transport: Transport;
  readonly #downloadTransport: Transport;
  readonly #clientId = randomUuid();
  readonly #starting: SharedWork<Parts>;
  readonly #createParts: (parts: ConnectionParts, started: Started) => Parts;
  #started: Started | undefined;
  #startTrouble: Trouble | undefined;
  /** Set when a session has started on this connection. */
  sessionId: string | undefined;

  /** @throws `ConfigurationError` when the hosted service needs a credential and there is none. */
  constructor(options: ResolvedConnectionOptions, createParts: (parts: ConnectionParts, started: Started) => Parts) {
    this.#options = options;
    this.#createParts = createParts;
    if (options.isHosted) chooseCredential(options);
    const { transport, dispatcher, clock, random } = options;
    this.#transport = transport ?? defaultTransport({ dispatcher });
    const isPublicOnly = options.downloads?.allowPrivateAddresses === false;
    this.#downloadTransport = isPublicOnly ? new UndiciTransport({ allowPrivateAddresses: false }) : this.#transport;
    this.runtime = { clock, random, lifetime: new ClientLifetime(), source: () => this.eventSource(), report: this.reports };
    this.#starting = this.shareWork('the connection to start');
  }

  eventSource(): EventSource {
    const { baseUrl } = this.#options;
    const base = { clientId: this.#clientId, baseUrl };
    return this.sessionId === undefined ? base : { ...base, sessionId: this.sessionId };
  }

  /** Work that the first call starts and that all calls wait for, such as the start of the session. */
  shareWork<T>(what: string): SharedWork<T> {
    return new SharedWork(this.runtime, { what, consequence: 'The call was not sent.', trouble: () => this.#startTrouble });
  }

  /** Starts the connection if no call has. */
  async connect(options: CallOptions = {}): Promise<Parts> {
    if (this.runtime.lifetime.isClosed) throw clientClosed();
    return this.#starting.wait((signal) => this.#start(signal), options);
  }

  /** Runs a call that needs no session. */
  run<Options extends CallOptions, T>(options: Options, work: (parts: Parts, step: Step<Options>) => Promise<T>): Promise<T> {
    const capture = (error: unknown) => this.reports.captureWithoutSession(error);
    return this.runAfter((wait) => this.connect(wait), options, work, capture);
  }

  /** Runs a call that first waits for something to start. The caller's time limit covers that wait and all steps of the work. */
  async runAfter<Options extends CallOptions, Waited, T>(
    start: (options: CallOptions) => Promise<Waited>,
    options: Options,
    work: (parts: Waited, step: Step<Options>) => Promise<T>,
    capture: (error: unknown) => void,
  ): Promise<T> {
    const startedAt = this.runtime.clock.monotonicMs();
    const parts = await start(options);
    try {
      const scope = new CallScope(this.runtime, options, startedAt);
      return await scope.run((signal) => work(parts, { ...options, signal, timeoutMs: undefined }));
    } catch (error) {
      capture(error);
      throw error;
    }
  }

  /** Sends the last reports, then ends every wait and every request. A transport that you passed in stays open. */
  async close(): Promise<void> {
    await this.reports.close({ timeoutMs: LAST_REPORT_MS });
    this.runtime.lifetime.close();
    if (this.#options.transport === undefined) await Promise.all([this.#transport.close(), this.#downloadTransport.close()]);
  }

  async #start(signal: AbortSignal): Promise<Parts> {
    const { lifetime, source } = this.runtime;
    const options = this.#options;
    const started = await startConnection(
      {
        options,
        transport: this.#transport,
        lifetime,
        source,
        onFailedRound: (failure) => this.reports.event(outerRetryReport(failure)),
        onHttpRetry: (retry) => this.#noteTrouble(retry),
        onDeprecation: showNotesOnce(options.onServerMessage),
      },
      signal,
    );
    this.#started = started;
    const { http, calls, credential, config } = started;
    const parts: ConnectionParts = {
      runtime: this.runtime,
      transport: this.#transport,
      downloadTransport: this.#downloadTransport,
      http,
      calls,
      credential,
      isCredentialExchanged: config.pjwtAuthEnabled,
      sdkVersion: options.sdkVersion,
    };
    return this.#createParts(parts, started);
  }

  /** Remembers the last failed attempt, for callers that give up waiting for the start. */
  #noteTrouble({ error, status }: RetryInfo): void {
    this.#startTrouble = { text: error instanceof Error ? error.message : `status ${status}`, cause: error };
  }

  /** This connection owns its reporters: closing another never stops them. */
  #createReporter(sessionId: string): ServiceReporter | undefined {
    const { isTelemetryEnabled, sdkVersion, clock, random } = this.#options;
    const http = this.#started?.http;
    if (!isTelemetryEnabled || http === undefined) return undefined;
    return new ServiceReporter({ http, sessionId, sdkVersion, clock, random });
  }
}
