import { ConfigurationError } from '@tinkex/types';

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
    (handle.sessionId === undefined || typeof handle.sessionId === 'string');
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
