import { ConfigurationError } from '@tinkex/types';
import type { ClientConfigResponse } from '@tinkex/types/wire';
import type { Poller } from '../futures/poller.js';
import { SessionPoller, type SessionPollerParts } from '../futures/session-poller.js';
import type { ClientLimits } from '../limits/client-limits.js';
import type { GrowingLimit } from '../limits/growing-limit.js';
import type { Runtime } from '../runtime/runtime.js';
import { StartQueue } from './admission.js';
import type { CancelQueue } from './cancel-queue.js';
import { type RetryOptions, resolveRetryOptions, SamplingRetries } from './retries.js';
import type { SampleSubmitter } from './sample-submitter.js';
import type { SeqIds } from './seq-ids.js';

/** What all sampling clients of one connection share. */
export interface SamplingShared {
  readonly config: ClientConfigResponse;
  readonly limits: ClientLimits;
  /** Whether events carry prompts and samples. */
  readonly publishesContent: boolean;
  readonly submitter: SampleSubmitter;
  readonly cancels: CancelQueue;
  /** Results being fetched at the same time after a {@link SessionPoller} has reported them. */
  readonly fetches: GrowingLimit;
}

/** The part of a sampling client that its calls share. */
export interface Sampler {
  readonly runtime: Runtime;
  readonly poller: Poller;
  readonly sampling: SamplingShared;
  readonly samplingSessionId: string;
  /** The base model or the path of the weights, for events. */
  readonly model: string | undefined;
  readonly seqIds: SeqIds;
  readonly queue: StartQueue;
  readonly retries: SamplingRetries | undefined;
  /** Waits for all samples with one poll; undefined: one poll per sample. */
  readonly sessionPoller: SessionPoller | undefined;
  readonly recordsStabilityInfo: boolean;
}

/** What a sampler is made of. */
export interface SamplerParts extends SessionPollerParts {
  readonly runtime: Runtime;
  readonly poller: Poller;
  readonly sampling: SamplingShared;
}

/** Which sampler it is, and how it behaves. */
export interface SamplerIdentity {
  readonly samplingSessionId: string;
  /** The base model or the path of the weights, where it is known. */
  readonly model?: string | undefined;
  readonly seqIds: SeqIds;
  readonly retry?: boolean | RetryOptions | undefined;
  readonly recordStabilityInfo?: boolean | undefined;
}

/** Samples that are always in progress, and that start in one turn of the event loop, unless `limits` says otherwise. */
const DEFAULT_STARTS_PER_TURN = 32;

/** @throws ConfigurationError when the retry options are invalid, or the server allows no samples at all. */
export function createSampler(parts: SamplerParts, identity: SamplerIdentity): Sampler {
  const { runtime, poller, sampling } = parts;
  const { samplingSessionId, model, seqIds, retry = false, recordStabilityInfo: recordsStabilityInfo = false } = identity;
  const { config, limits } = sampling;
  const hasSessionPoll = config.sampleUseRetrieveFutures;
  const maxCalls = limits.maxConcurrentSamples ?? (hasSessionPoll ? Number.POSITIVE_INFINITY : config.sampleMaxConcurrentRequests);
  if (maxCalls < 1) throw noCallsAllowed(maxCalls);
  const queue = new StartQueue(maxCalls, limits.maxSampleStartsPerTurn ?? DEFAULT_STARTS_PER_TURN);
  const options = retry === false ? undefined : resolveRetryOptions(retry === true ? {} : retry, config.sampleEnableStuckDetection);
  const retries = options && new SamplingRetries(options, runtime.clock, runtime.random);
  const target = { type: 'sampling_session', samplingSessionId, clonedSamplerId: seqIds.block } as const;
  const sessionPoller = hasSessionPoll ? new SessionPoller(parts, target) : undefined;
  return { runtime, poller, sampling, samplingSessionId, model, seqIds, queue, retries, sessionPoller, recordsStabilityInfo };
}

/** Without this error every call would wait forever. */
function noCallsAllowed(limit: number): ConfigurationError {
  return new ConfigurationError({
    message: `The server's limit on concurrent samples is ${limit}, which allows no sampling at all. Set limits.maxConcurrentSamples to sample nevertheless.`,
    option: 'limits.maxConcurrentSamples',
  });
}
