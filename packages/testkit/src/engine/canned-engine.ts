import { type Datum, type ForwardBackwardOutput, type SampleResponse, TensorData, TopkLogprobs } from '@tinkex/types';
import type { CustomLossProgram } from '@tinkex/types/custom-loss';
import { type BaseModelOptions, describeModel } from './base-models.js';
import { customLossOutput, runCustomLoss } from './custom-loss-pass.js';
import {
  type CheckpointFiles,
  DEFAULT_BASE_MODEL,
  type Engine,
  type EngineForwardInput,
  type EngineModel,
  type EngineModelInfo,
  type EngineSampleInput,
  type EngineSampler,
  EngineUserError,
  type ModelSpec,
} from './engine.js';
import { findLossFunction, LOSS_NAMES } from './losses.js';

/** Options of {@link cannedEngine}. */
export interface CannedEngineOptions {
  /** Base models in addition to `tinkex/tiny`. */
  readonly baseModels?: readonly (string | BaseModelOptions)[] | undefined;
  /** Whether any other name is a base model too. Default false. */
  readonly anyModel?: boolean | undefined;
  /** The tokens of every sample, repeated up to `maxTokens`. Default 1 to 8. */
  readonly sampleTokens?: readonly number[] | undefined;
  /** The log-probability of every token. Default -0.5. */
  readonly logprob?: number | undefined;
}

const DEFAULT_MAX_TOKENS = 16;

/**
 * An engine that learns nothing and answers immediately: fixed tokens, fixed log-probabilities, results of the right shape. For tests
 * that do not depend on the numbers.
 */
export function cannedEngine(options: CannedEngineOptions = {}): Engine {
  const { baseModels = [], anyModel = false, sampleTokens = [1, 2, 3, 4, 5, 6, 7, 8], logprob = -0.5 } = options;
  const describe = (model: string | BaseModelOptions): EngineModelInfo => ({ ...describeModel(model), arch: 'canned' });
  const models = new Map([DEFAULT_BASE_MODEL, ...baseModels].map(describe).map((model) => [model.modelName, model]));
  return {
    name: 'canned',
    supportedModels: [...models.values()],
    findModel: (name) => models.get(name) ?? (anyModel && name !== '' ? describe(name) : undefined),
    optimizers: ['adamw', 'dimuon'],
    lossFunctions: [...LOSS_NAMES, 'custom'],
    createModel: (spec) => new CannedModel(spec, logprob),
    createSampler: () => cannedSampler(sampleTokens, logprob),
  };
}

class CannedModel implements EngineModel {
  readonly #spec: ModelSpec;
  readonly #logprob: number;
  #steps = 0;

  constructor(spec: ModelSpec, logprob: number) {
    this.#spec = spec;
    this.#logprob = logprob;
  }

  forward({ data, lossFn, customLoss }: EngineForwardInput): ForwardBackwardOutput {
    if (customLoss !== undefined) return this.#forwardCustom(data, customLoss);
    findLossFunction(lossFn);
    let loss = 0;
    const lossFnOutputs = data.map((item) => {
      const logprobs = new Float32Array(targetCount(item)).fill(this.#logprob);
      const weights = item.lossFnInputs['weights']?.toDense().data;
      const losses = logprobs.map((value, index) => -value * Number(weights?.[index] ?? 1));
      loss += losses.reduce((sum, value) => sum + value, 0);
      return { logprobs: TensorData.fromArray(logprobs), elementwise_loss: TensorData.fromArray(losses) };
    });
    return { lossFnOutputType: 'ArrayRecord', lossFnOutputs, metrics: { 'loss:sum': loss, 'loss:mean': loss / Math.max(1, data.length) } };
  }

  #forwardCustom(data: readonly Datum[], customLoss: CustomLossProgram): ForwardBackwardOutput {
    const logprobs = data.map((item) => {
      const { shape } = item.lossFnInputs.targetTokens?.toDense() ?? {};
      return TensorData.fromArray(new Float32Array(targetCount(item)).fill(this.#logprob), 'float32', shape);
    });
    const given = logprobs.map((tensor) => ({ data: tensor.data as Float32Array, shape: tensor.shape ?? [tensor.length] }));
    return customLossOutput(runCustomLoss(customLoss, data, given), logprobs);
  }

  optimStep(): { readonly metrics: Record<string, number> } {
    this.#steps += 1;
    return { metrics: { 'step:max': this.#steps } };
  }

  save(kind: 'training' | 'sampler'): CheckpointFiles {
    const { baseModel, lora } = this.#spec;
    const config = { base_model_name_or_path: baseModel, r: lora.rank, lora_alpha: lora.rank, peft_type: 'LORA' };
    const files = new Map([
      ['adapter_config.json', Buffer.from(JSON.stringify(config))],
      ['adapter_model.bin', Buffer.from(`canned weights after ${this.#steps} steps`)],
    ]);
    if (kind === 'training') files.set('optimizer.json', Buffer.from(JSON.stringify({ steps: this.#steps })));
    return files.set('checkpoint_complete', Buffer.alloc(0));
  }

  load(checkpoint: CheckpointFiles, options: { readonly optimizer: boolean }): void {
    const optimizer = checkpoint.get('optimizer.json');
    if (options.optimizer && optimizer === undefined) throw new EngineUserError('This checkpoint has no optimizer state.');
    this.#steps =
      options.optimizer && optimizer !== undefined ? (JSON.parse(Buffer.from(optimizer).toString()) as { steps: number }).steps : 0;
  }
}

function targetCount(item: Datum): number {
  return item.lossFnInputs['targetTokens']?.toDense().data.length ?? item.modelInput.length;
}

function cannedSampler(sampleTokens: readonly number[], logprob: number): EngineSampler {
  return {
    sample(input: EngineSampleInput): SampleResponse {
      const { numSamples, samplingParams, topkSampleLogprobs = 0 } = input;
      const count = samplingParams.maxTokens ?? DEFAULT_MAX_TOKENS;
      const tokens = Int32Array.from({ length: count }, (_, index) => sampleTokens[index % sampleTokens.length] ?? 0);
      const sequences = Array.from({ length: numSamples }, () => ({
        tokens,
        logprobs: new Float32Array(count).fill(logprob),
        stopReason: 'length' as const,
        ...(topkSampleLogprobs > 0 ? { topkLogprobs: cannedTopk(tokens, topkSampleLogprobs, logprob, 0) } : {}),
      }));
      return { sequences, promptCacheHitTokens: 0, ...promptScores(input, logprob) };
    },
  };
}

/** The requested scores of the prompt. The first position has no score. */
function promptScores(input: EngineSampleInput, logprob: number): Partial<SampleResponse> {
  const { promptLogprobs: hasLogprobs, topkPromptLogprobs: topk, targetPromptLogprobs: targets, promptAltTokensK = 0 } = input;
  // The length of other inputs is not always known.
  if (!hasLogprobs && topk === 0 && targets === undefined && promptAltTokensK === 0) return {};
  const prompt = input.prompt.toInts();
  const from = Math.max(1, prompt.length - (input.promptLogprobsLastN ?? prompt.length));
  const promptLogprobs = new Float32Array(prompt.length).fill(logprob).fill(Number.NaN, 0, from);
  const shape = [prompt.length - 1, promptAltTokensK];
  const drawn = BigInt64Array.from({ length: (prompt.length - 1) * promptAltTokensK }, (_, index) => BigInt(index % promptAltTokensK));
  const asTensor = (data: Float32Array | BigInt64Array) => TensorData.fromArray(data, undefined, shape);
  return {
    ...(hasLogprobs || topk > 0 ? { promptLogprobs } : {}),
    ...(topk > 0 ? { topkPromptLogprobs: cannedTopk(prompt, topk, logprob, from) } : {}),
    ...(targets === undefined ? {} : { targetPromptLogprobs: cannedTargets(targets, logprob) }),
    ...(promptAltTokensK > 0
      ? { promptAltTokens: { tokens: asTensor(drawn), logprobs: asTensor(new Float32Array(drawn.length).fill(logprob)) } }
      : {}),
  };
}

/** Each token and its successors; rows before `from` are empty. */
function cannedTopk(tokens: Int32Array, k: number, logprob: number, from: number): TopkLogprobs {
  const tokenIds = new Int32Array(tokens.length * k);
  const logprobs = new Float32Array(tokens.length * k).fill(-99_999);
  for (let position = from; position < tokens.length; position++) {
    for (let rank = 0; rank < k; rank++) {
      tokenIds[position * k + rank] = (tokens[position] ?? 0) + rank;
      logprobs[position * k + rank] = logprob - rank;
    }
  }
  return new TopkLogprobs({ tokenIds, logprobs, k, length: tokens.length });
}

function cannedTargets(targets: TensorData, logprob: number): TensorData {
  const data = Float32Array.from(targets.data as BigInt64Array, (id) => (id === -1n ? 0 : logprob));
  return new TensorData({ ...targets, data, dtype: 'float32' });
}
