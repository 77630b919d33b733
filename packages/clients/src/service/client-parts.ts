import type { ConnectionParts } from '../connection/connection.js';
import type { Started } from '../connection/start-connection.js';
import { Poller } from '../futures/poller.js';
import { ACCEPTED_RESULTS } from '../futures/result-decoders.js';
import { AdmissionQueue } from '../limits/admission-queue.js';
import { GrowingLimit } from '../limits/growing-limit.js';
import { tenantRateLimiter } from '../limits/rate-limiter-registry.js';
import type { RestParts } from '../rest/rest-connection.js';
import type { Runtime } from '../runtime/runtime.js';
import { DispatchLimits } from '../sampling/admission.js';
import { CancelQueue } from '../sampling/cancel-queue.js';
import { SampleSubmitter } from '../sampling/sample-submitter.js';
import type { SamplingShared } from '../sampling/sampler.js';
import type { SamplingParts } from '../sampling/sampling-client.js';
import { TokenizerLibrary } from '../tokenizers/tokenizer-library.js';
import { BodyMemory } from '../training/body-memory.js';
import type { TrainingShared } from '../training/operations.js';
import { WireDialect } from '../training/wire-dialect.js';
import type { ResolvedOptions } from './resolve-options.js';

/** Polls in flight at the same time unless `limits` says otherwise: as many as a sampling session may have calls in flight. */
const DEFAULT_CONCURRENT_POLLS = 2_000;
/**
 * With one poll per sampling session the server answers every other request immediately: a few at the same time are enough unless it is far
 * away.
 */
const SESSION_POLL_SUBMISSIONS = 16;
const SESSION_POLL_FETCHES = { initial: 8, max: 256 };
const DEFAULT_REUSED_BODY_BYTES = 32 * 2 ** 20;

/** The parts that the clients of one started `ServiceClient` are made of. Each client declares the few that it uses. */
export interface ClientParts extends SamplingParts, RestParts {
  readonly runtime: Runtime;
  readonly training: TrainingShared;
}

/** A started connection. */
export interface ClientPartsStart extends Omit<Started, 'dynamicConfig'> {
  /** The latest configuration; undefined for a server that has none. */
  readonly dynamicConfig: () => Started['dynamicConfig'];
}

/** Creates the parts once per started connection. */
export function createClientParts(
  options: ResolvedOptions,
  parts: ConnectionParts,
  started: ClientPartsStart,
  exportWeights: RestParts['exportWeights'],
): ClientParts {
  const { runtime, transport, http } = parts;
  const { billingPause, config } = started;
  const { limits, wireFormat } = options;
  const { clock, lifetime, source, report } = runtime;
  const poller = new Poller({
    http,
    clock,
    source,
    billingPause,
    responseBudget: AdmissionQueue.bytes(limits.maxResponseBytesInFlight ?? config.inflightResponseBytesSemaphoreSize),
    slots: AdmissionQueue.counting(limits.maxConcurrentPolls ?? DEFAULT_CONCURRENT_POLLS),
    accept: ACCEPTED_RESULTS[wireFormat],
    onReport: (one) => report.event(one),
  });
  return {
    ...parts,
    billingPause,
    poller,
    exportWeights,
    tokenizers: new TokenizerLibrary(options.tokenizer ?? {}, { transport, clock, lifetime }),
    sampling: samplingShared(options, started, runtime),
    training: {
      config,
      dialect: new WireDialect(wireFormat, options.baseUrl, clock),
      dispatchBudget: AdmissionQueue.bytes(limits.maxDispatchBytes ?? config.fwdbwdDispatchBytesSemaphoreSize),
      bodyMemory: new BodyMemory(mayKeepBodies(options) ? 0 : (limits.maxReusedBodyBytes ?? DEFAULT_REUSED_BODY_BYTES)),
      maxUnfinishedOperations: limits.maxUnfinishedOperations,
    },
  };
}

function samplingShared(options: ResolvedOptions, started: ClientPartsStart, { clock, source }: Runtime): SamplingShared {
  const { http, calls, billingPause, config, dynamicConfig } = started;
  const { baseUrl, limits, apiKey, credentialCommand, storedApiKey, publishContent = false } = options;
  const limiter = tenantRateLimiter(baseUrl, apiKey || credentialCommand || storedApiKey, clock);
  const dispatchLimits = new DispatchLimits(limiter, {
    maxPromptBytes: limits.maxPromptBytesInFlight ?? config.sampleDispatchBytesSemaphoreSize,
    maxSubmissions: limits.maxConcurrentSampleSubmissions,
    initialSubmissions: config.sampleUseRetrieveFutures ? SESSION_POLL_SUBMISSIONS : undefined,
    maxThrottledSubmissions: limits.maxThrottledSampleSubmissions,
  });
  const submitter = new SampleSubmitter({ http, calls, billingPause, clock, source, limiter, limits: dispatchLimits });
  const cancels = new CancelQueue(calls, dynamicConfig);
  const fetches = new GrowingLimit(SESSION_POLL_FETCHES.max, SESSION_POLL_FETCHES.initial);
  return { config, limits, publishesContent: publishContent, submitter, cancels, fetches };
}

/** Whether something of the user's sees the bodies of requests, and might read them later. */
function mayKeepBodies({ transport, dispatcher, middleware }: ResolvedOptions): boolean {
  return transport !== undefined || dispatcher !== undefined || (middleware?.length ?? 0) > 0;
}
