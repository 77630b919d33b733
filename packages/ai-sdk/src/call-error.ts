import { AISDKError, APICallError } from '@ai-sdk/provider';
import { toFailure } from '@tinkex/gateway/generation';
import { AbortedError, ApiStatusError } from '@tinkex/types';

/**
 * An error of a sampler as the AI SDK expects it: with a status, and whether to try again. Aborts and the AI SDK's own errors stay as they are.
 */
export function callError(error: unknown, modelId: string): unknown {
  if (AbortedError.isInstance(error) || AISDKError.isInstance(error)) return error;
  const failure = toFailure(error);
  const { message, retryAfterMs } = failure;
  // The key of the service is the caller's own here, so a status that a gateway would hide is passed on.
  const status = ApiStatusError.isInstance(error) ? error.status : failure.status;
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
