import type { Transport } from '@tinkex/http';
import type { ClientReport } from '@tinkex/telemetry/reporter';
import type { EventSource, Tokenizer } from '@tinkex/types';
import type { Lifetime } from '../runtime/client-lifetime.js';
import { Poller } from '../futures/poller.js';
import { startOperation } from '../futures/start-operation.js';
import { AdmissionQueue } from '../limits/admission-queue.js';
import { BodyBuffers } from '../training/body-memory.js';
import { tenantIdOf } from '../limits/tenant-id.js';
import { WireDialect } from '../training/wire-dialect.js';
import type { Connection } from './connection.js';
import type { ResolvedOptions } from './resolve-options.js';
import type { Started } from './start-connection.js';

/** Polls in flight at once unless the user says otherwise: as many as a sampling session may have calls in flight. */
export const DEFAULT_CONCURRENT_POLLS = 2_000;
const DEFAULT_REUSED_BODY_BYTES = 32 * 2 ** 20;

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

/** The connection of one `ServiceClient`: own properties only, so that a session's connection can be spread from it. */
export function serviceConnection(parts: ServiceConnectionParts): Connection {
  const { options, started, transport, lifetime, source, loadTokenizer, onFailure, onReport } = parts;
  const { baseUrl, clock, random, limits, wireFormat } = options;
  const { http, config, billingPause, caller, credential } = started;
  const acceptResult = ACCEPT[wireFormat];
  const host = { clock, lifetime, source, onFailure };
  const poller = new Poller({
    http,
    clock,
    billingPause,
    responseBudget: AdmissionQueue.bytes(limits.maxResponseBytesInFlight ?? config.inflightResponseBytesSemaphoreSize),
    slots: AdmissionQueue.counting(limits.maxConcurrentPolls ?? DEFAULT_CONCURRENT_POLLS),
    acceptResult,
    source,
    onReport,
  });
  return {
    baseUrl,
    tenantId: tenantIdOf(baseUrl, options.apiKey || options.credentialCommand),
    clock,
    random,
    transport,
    http,
    config,
    limits,
    lifetime,
    billingPause,
    acceptResult,
    dialect: new WireDialect(wireFormat),
    bodyBuffers: new BodyBuffers(mayKeepBodies(options) ? 0 : (limits.maxReusedBodyBytes ?? DEFAULT_REUSED_BODY_BYTES)),
    dispatchBudget: AdmissionQueue.bytes(limits.maxDispatchBytes ?? config.fwdbwdDispatchBytesSemaphoreSize),
    source,
    publishesContent: options.publishContent ?? false,
    report: onReport,
    credential,
    loadTokenizer,
    call: (key, request, callOptions) => caller.call(key, request, callOptions),
    retry: (work, scope) => caller.retry(work, scope),
    startOperation: (spec, callOptions) => startOperation(host, spec, callOptions),
    poll: (job) => poller.poll(job),
  };
}

/** Whether something of the user's sees the bodies of requests, and might look at them later. */
function mayKeepBodies({ transport, dispatcher, middleware }: ResolvedOptions): boolean {
  return transport !== undefined || dispatcher !== undefined || (middleware?.length ?? 0) > 0;
}

/** What polls say they accept. Servers that know only one encoding ignore it; those that know both obey it. */
const ACCEPT = {
  auto: 'application/x-protobuf, application/json',
  protobuf: 'application/x-protobuf',
  json: 'application/json',
} as const;
