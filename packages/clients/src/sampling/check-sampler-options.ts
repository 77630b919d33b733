import { ConfigurationError } from '@tinkex/types';
import { resolveRetryOptions } from './retries.js';
import type { SamplingClientOptions } from './sampling-client.js';

/** @throws ConfigurationError when no server could make this sampler, or its retries make no sense. Asks nobody. */
export function checkSamplerOptions({ modelPath, baseModel, retry }: SamplingClientOptions): void {
  if (modelPath === undefined && baseModel === undefined) {
    throw new ConfigurationError({ message: 'A sampling client needs modelPath or baseModel.', option: 'modelPath' });
  }
  if (modelPath !== undefined && !modelPath.startsWith('tinker://')) {
    throw new ConfigurationError({
      message: `modelPath must start with tinker://, got ${JSON.stringify(modelPath)}.`,
      option: 'modelPath',
    });
  }
  if (typeof retry === 'object') resolveRetryOptions(retry, true);
}
