import type { ClientDynamicConfigResponse } from '@tinkex/types/wire';
import type { ConnectionParts } from '../connection/connection.js';
import type { Started } from '../connection/start-connection.js';
import { Poller } from '../futures/poller.js';
import { ACCEPTED_RESULTS } from '../futures/result-decoders.js';
import { AdmissionQueue } from '../limits/admission-queue.js';
import { tenantRateLimiter } from '../limits/rate-limiter-registry.js';
import type { Runtime } from '../runtime/runtime.js';
import { DispatchLimits } from '../sampling/admission.js';
import type { SamplingShared } from '../sampling/sample-call.js';
import { SampleSubmitter } from '../sampling/sample-submitter.js';
import type { SamplingParts } from '../sampling/sampling-client.js';
import { TokenizerLibrary } from '../tokenizers/tokenizer-library.js';
import { BodyMemory } from '../training/body-memory.js';
import type { TrainingShared } from '../training/operations.js';
import { WireDialect } from '../training/wire-dialect.js';
import type { ResolvedOptions } from './resolve-options.js';

/** Polls in flight at the same time unless `limits` says otherwise: as many as a sampling session may have calls in flight. */
const DEFAULT_CONCURRENT_POLLS = 2_000;
const DEFAULT_REUSED_BODY_BYTES = 32 * 2 ** 20;

/** The parts that the clients of one started `ServiceClient` are made of. Each client declares the few that it uses. */
export interface ClientParts extends SamplingParts, ConnectionParts {
  readonly runtime: Runtime;
  /** What the server may change later, as it was at the start. Undefined when the server has no such endpoint: nothing to refresh. */
  readonly dynamicConfig: ClientDynamicConfigResponse | undefined;
  readonly training: TrainingShared;
}

/** Creates the parts once per started connection. */
export function createClientParts(options: ResolvedOptions, parts: ConnectionParts, started: Started): ClientParts {
  const { runtime, transport, http } = parts;
  const { billingPause, config, dynamicConfig } = started;
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
    dynamicConfig,
    poller,
    tokenizers: new TokenizerLibrary(options.tokenizer ?? {}, { transport, clock, lifetime }),
    sampling: samplingShared(options, started, runtime),
    training: {
      config,
      dialect: new WireDialect(wireFormat),
      dispatchBudget: AdmissionQueue.bytes(limits.maxDispatchBytes ?? config.fwdbwdDispatchBytesSemaphoreSize),
      bodyMemory: new BodyMemory(mayKeepBodies(options) ? 0 : (limits.maxReusedBodyBytes ?? DEFAULT_REUSED_BODY_BYTES)),
    },
  };
}

function samplingShared(options: ResolvedOptions, started: Started, { clock, source }: Runtime): SamplingShared {
  const { http, calls, billingPause, config } = started;
  const { baseUrl, limits, apiKey, credentialCommand, storedApiKey, publishContent = false } = options;
  const limiter = tenantRateLimiter(baseUrl, apiKey || credentialCommand || storedApiKey, clock);
  const dispatchLimits = new DispatchLimits(limiter, {
    maxPromptBytes: limits.maxPromptBytesInFlight ?? config.sampleDispatchBytesSemaphoreSize,
    maxSubmissions: limits.maxConcurrentSampleSubmissions,
    maxThrottledSubmissions: limits.maxThrottledSampleSubmissions,
  });
  const submitter = new SampleSubmitter({ http, calls, billingPause, clock, source, limiter, limits: dispatchLimits });
  return { config, limits, publishesContent: publishContent, submitter };
}

/** Whether something of the user's sees the bodies of requests, and might read them later. */
function mayKeepBodies({ transport, dispatcher, middleware }: ResolvedOptions): boolean {
  return transport !== undefined || dispatcher !== undefined || (middleware?.length ?? 0) > 0;
}
