import { AISDKError, APICallError } from '@ai-sdk/provider';
import { toFailure } from '@tinkex/gateway/generation';
import { AbortedError } from '@tinkex/types';

/**
 * An error of a sampler as the AI SDK expects it: with a status, and whether to try again. Aborts and the AI SDK's own errors stay as they are.
 */
export function callError(error: unknown, modelId: string): unknown {
  if (AbortedError.isInstance(error) || AISDKError.isInstance(error)) return error;
  const { message, status, retryAfterMs } = toFailure(error);
  return new APICallError({
    message,
    url: modelId,
    requestBodyValues: {},
    statusCode: status,
    ...(retryAfterMs === undefined ? {} : { responseHeaders: { 'retry-after-ms': String(retryAfterMs) } }),
    isRetryable: status === 429 || status >= 500,
    cause: error,
  });
}
