import type { Clock, HttpClient, Random, Transport } from '@tinkex/http';
import type { ClientReport } from '@tinkex/telemetry/reporter';
import type { ClientConfigResponse, EventSource, Tokenizer } from '@tinkex/types';
import type { Lifetime } from '../calls/lifetime.js';
import { Poller } from '../futures/poller.js';
import { startOperation } from '../futures/start-operation.js';
import { AdmissionQueue } from '../limits/admission-queue.js';
import type { BillingPause } from '../limits/billing-pause.js';
import { tenantIdOf } from '../rate-limit/tenant-id.js';
import { WireDialect } from '../training/wire-dialect.js';
import type { ClientLimits, Connection } from './connection.js';
import type { ResolvedOptions } from './resolve-options.js';
import type { Started } from './start-connection.js';

/** Polls in flight at once unless the user says otherwise: as many as a sampling session may have calls in flight. */
export const DEFAULT_CONCURRENT_POLLS = 2_000;

export interface ServiceConnectionParts {
  readonly options: ResolvedOptions;
  readonly started: Started;
  readonly transport: Transport;
  readonly lifetime: Lifetime;
  readonly source: () => EventSource;
  readonly loadTokenizer: (modelName: string, tokenizerId?: string) => Promise<Tokenizer>;
  /** Told of each operation that failed. */
  readonly onFailure: (error: unknown) => void;
  /** Told what the service should know about failed polls and retries. */
  readonly onReport: (report: ClientReport) => void;
}

/** The connection of one `ServiceClient`. */
export class ServiceConnection implements Connection {
  readonly baseUrl: string;
  readonly tenantId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly transport: Transport;
  readonly http: HttpClient;
  readonly config: ClientConfigResponse;
  readonly limits: ClientLimits;
  readonly lifetime: Lifetime;
  readonly billingPause: BillingPause;
  readonly acceptResult: string;
  readonly dialect: WireDialect;
  readonly dispatchBudget: AdmissionQueue;
  readonly source: () => EventSource;
  readonly publishesContent: boolean;
  readonly report: (report: ClientReport) => void;
  readonly credential: () => Promise<string>;
  readonly loadTokenizer: (modelName: string, tokenizerId?: string) => Promise<Tokenizer>;
  readonly call: Connection['call'];
  readonly retry: Connection['retry'];
  readonly startOperation: Connection['startOperation'];
  readonly poll: Connection['poll'];

  constructor({ options, started, transport, lifetime, source, loadTokenizer, onFailure, onReport }: ServiceConnectionParts) {
    const { limits } = options;
    this.baseUrl = options.baseUrl;
    this.tenantId = tenantIdOf(options.baseUrl, options.apiKey || options.credentialCommand);
    this.clock = options.clock;
    this.random = options.random;
    this.transport = transport;
    this.http = started.http;
    this.config = started.config;
    this.limits = limits;
    this.lifetime = lifetime;
    this.billingPause = started.billingPause;
    this.acceptResult = ACCEPT[options.wireFormat];
    this.dialect = new WireDialect(options.wireFormat);
    this.dispatchBudget = AdmissionQueue.bytes(limits.maxDispatchBytes ?? started.config.fwdbwdDispatchBytesSemaphoreSize);
    this.source = source;
    this.publishesContent = options.publishContent ?? false;
    this.report = onReport;
    this.credential = started.credential;
    this.loadTokenizer = loadTokenizer;
    const poller = new Poller({
      http: started.http,
      clock: options.clock,
      billingPause: started.billingPause,
      responseBudget: AdmissionQueue.bytes(limits.maxResponseBytesInFlight ?? started.config.inflightResponseBytesSemaphoreSize),
      slots: AdmissionQueue.counting(limits.maxConcurrentPolls ?? DEFAULT_CONCURRENT_POLLS),
      acceptResult: this.acceptResult,
      source,
      onReport,
    });
    // Own properties and not methods, so that a session's connection can be spread from this one.
    this.call = (key, request, callOptions) => started.caller.call(key, request, callOptions);
    this.retry = (work, scope) => started.caller.retry(work, scope);
    const host = { clock: this.clock, lifetime, source, onFailure };
    this.startOperation = (spec, callOptions) => startOperation(host, spec, callOptions);
    this.poll = (job) => poller.poll(job);
  }
}

/** What polls say they accept. Servers that know only one encoding ignore it; those that know both obey it. */
const ACCEPT = {
  auto: 'application/x-protobuf, application/json',
  protobuf: 'application/x-protobuf',
  json: 'application/json',
} as const;
