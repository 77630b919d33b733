import { ConfigurationError, ValidationError } from '@tinkex/types';
import type { EndpointCaller } from '../calls/endpoint-caller.js';
import type { CallOptions } from '../runtime/call-options.js';
import type { SamplingShared } from './sampler.js';
import { randomBlock, SeqIds } from './seq-ids.js';

/**
 * A sampling client as plain JSON, to continue in a worker thread or another process. Contains no credential: the receiving side brings
 * its own `ServiceClient`.
 */
export interface SamplingClientHandle {
  readonly kind: 'tinkex.sampling-client';
  readonly version: 1;
  readonly baseUrl: string;
  readonly samplingSessionId: string;
  /** The session to keep alive. */
  readonly sessionId?: string | undefined;
  /** As the original client was created. Unset: false. */
  readonly recordStabilityInfo?: boolean | undefined;
}

/** Checks a handle from another thread or process. Throws `ConfigurationError`. */
export function parseSamplingHandle(value: unknown): SamplingClientHandle {
  const handle = (typeof value === 'string' ? parseText(value) : value) as Partial<SamplingClientHandle> | null | undefined;
  const isHandle =
    typeof handle === 'object' &&
    handle?.kind === 'tinkex.sampling-client' &&
    handle.version === 1 &&
    typeof handle.baseUrl === 'string' &&
    typeof handle.samplingSessionId === 'string' &&
    (handle.sessionId === undefined || typeof handle.sessionId === 'string') &&
    (handle.recordStabilityInfo === undefined || typeof handle.recordStabilityInfo === 'boolean');
  if (isHandle) return handle as SamplingClientHandle;
  throw new ConfigurationError({
    message: 'This is not the JSON of a sampling client. Pass the result of JSON.stringify(samplingClient) or samplingClient.toJSON().',
    option: 'handle',
  });
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConfigurationError({ message: 'The handle of a sampling client is not JSON.', option: 'handle', cause: error });
  }
}

/**
 * The sequence IDs of a copy of a sampling client: in a block that the server assigns, if it does that, else in a random one.
 *
 * @throws ValidationError when the server assigns the block of the original.
 */
export async function joinSampler(
  { calls, sampling }: { readonly calls: EndpointCaller; readonly sampling: Pick<SamplingShared, 'config'> },
  samplingSessionId: string,
  { signal, timeoutMs, headers }: CallOptions,
): Promise<SeqIds> {
  if (!sampling.config.sampleJoinSamplingSession) return new SeqIds(randomBlock());
  const { clientCounter } = await calls.call('joinSamplingSession', { body: { samplingSessionId } }, { signal, timeoutMs, headers });
  if (clientCounter >= 1) return new SeqIds(clientCounter);
  const issues = [{ path: 'clientCounter', message: `must be at least 1 for a copy, got ${clientCounter}` }];
  throw new ValidationError({ direction: 'response', subject: 'JoinSamplingSessionResponse', issues });
}
