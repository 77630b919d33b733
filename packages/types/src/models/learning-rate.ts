import { ConfigurationError } from '../errors/configuration-error.js';
import { modelInfo, modelNameOf } from './model-info.js';

/** How much larger the learning rate of a LoRA adapter is than that of full fine-tuning. */
export const LORA_LR_OVER_FULL_LR = 10;

const BASE_LR = 5e-5;
const REFERENCE_HIDDEN_SIZE = 2_000;

/** How fast the learning rate falls with the hidden size, by a word in the model's name. */
const EXPONENTS: readonly (readonly [word: string, exponent: number])[] = [
  ['llama', 0.781],
  ['qwen', 0.0775],
];

/** Models without a measured learning rate: the reference refuses to guess one. */
const UNCALIBRATED: ReadonlySet<string> = new Set([
  'deepseek-ai/DeepSeek-V3.1',
  'deepseek-ai/DeepSeek-V4.1-Flash',
  'deepseek-ai/DeepSeek-V4.1-Flash-1017',
  'openai/gpt-oss-20b',
  'openai/gpt-oss-120b',
  'moonshotai/Kimi-K2.6',
  'zai-org/GLM-5.3',
  'zai-org/GLM-5.3-Flash',
  'nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16',
  'nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16',
  'nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16',
  'nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-BF16',
  'nvidia/NVIDIA-Nemotron-3.5-Super-VL-120B-A12B-BF16',
]);

/** Options of {@link getLr}. */
export interface GetLrOptions {
  /** False for full fine-tuning. Default true. */
  readonly isLora?: boolean | undefined;
}

/**
 * The learning rate that the reference recommends for a model. It does not depend on the rank.
 *
 * Throws a `ConfigurationError`: `TINKEX_LR_UNCALIBRATED` for a model without a measured learning rate, `TINKEX_LR_UNKNOWN` for any other model without one.
 * Pass a learning rate yourself then.
 *
 * @example
 * ```ts
 * import { getLr } from '@tinkex/types/models';
 *
 * console.log(getLr('Qwen/Qwen3-8B').toExponential(2)); // 4.73e-4
 * ```
 */
export function getLr(model: string, { isLora = true }: GetLrOptions = {}): number {
  const name = modelNameOf(model);
  if (UNCALIBRATED.has(name) || name.startsWith('thinkingmachines/Inkling')) {
    throw lrRefused('TINKEX_LR_UNCALIBRATED', `The learning rate of "${name}" has not been calibrated yet. Choose one yourself.`);
  }
  const exponent = EXPONENTS.find(([word]) => name.toLowerCase().includes(word))?.[1];
  if (exponent === undefined) throw lrRefused('TINKEX_LR_UNKNOWN', `No learning rate is known for "${name}". Choose one yourself.`);
  return BASE_LR * (isLora ? LORA_LR_OVER_FULL_LR : 1) * (REFERENCE_HIDDEN_SIZE / modelInfo(name).hiddenSize) ** exponent;
}

function lrRefused(code: string, message: string): ConfigurationError {
  return new ConfigurationError({ code, option: 'model', message });
}
