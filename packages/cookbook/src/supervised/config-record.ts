import type { Json, JsonRecord } from '@tinkex/telemetry/runs';
import { ConfigurationError } from '@tinkex/types';
import type { ResolvedConfig } from './config.js';

/** What a run trains on, as `config.json` describes it. */
export interface DataFacts {
  /** Undefined for examples of the user's own. */
  readonly rendererName?: string | undefined;
  readonly rows?: number | undefined;
  /** Batches of the first epoch. */
  readonly batches: number;
}

/** What may not change when a run continues, because the order of the batches or the weights depend on it. */
const FIXED = ['model_name', 'lora_rank', 'dataset_builder.batch_size', 'dataset_builder.batch_tokens', 'dataset_builder.rows'] as const;

/** `config.json` of a run, under the reference's names. */
export function configRecord(config: ResolvedConfig, { rendererName, rows, batches }: DataFacts): JsonRecord {
  return {
    log_path: config.logPath,
    model_name: config.model,
    recipe_name: 'supervised',
    load_checkpoint_path: config.loadCheckpointPath ?? null,
    renderer_name: rendererName ?? null,
    dataset_builder: { batch_size: config.batchSize ?? null, batch_tokens: config.batchTokens ?? null, rows: rows ?? null, batches },
    learning_rate: config.learningRate,
    lr_schedule: config.lrSchedule,
    warmup_steps: config.warmupSteps,
    num_epochs: config.numEpochs,
    lora_rank: config.loraRank,
    base_url: config.service.baseUrl,
    save_every: config.saveEvery,
    save_every_tokens: config.saveEveryTokens ?? 0,
    save_every_seconds: config.saveEverySeconds ?? 0,
    eval_every: config.evalEvery,
    infrequent_eval_every: config.infrequentEvalEvery,
    ttl_seconds: config.ttlSeconds,
    rolling_save_every: config.rollingSaveEvery ?? 0,
    rolling_ttl_seconds: config.rollingTtlSeconds,
    adam_beta1: config.adam.beta1,
    adam_beta2: config.adam.beta2,
    adam_eps: config.adam.eps,
    max_steps: config.maxSteps ?? null,
    max_tokens: config.maxTokens ?? null,
    max_seconds: config.maxSeconds ?? null,
    max_cost_usd: config.maxCostUsd ?? null,
    submit_ahead: config.submitAhead,
  };
}

/** @throws ConfigurationError when a run would continue with other data or another model than it began with. */
export function checkSameRun(previous: JsonRecord, current: JsonRecord): void {
  for (const field of FIXED) {
    const before = fieldAt(previous, field);
    const now = fieldAt(current, field);
    if (before === undefined || before === null || before === now) continue;
    throw new ConfigurationError({
      option: 'logPath',
      message: `The run in ${String(current.log_path)} was started with ${field} ${String(before)}, and now it is ${String(now)}. Use the same value, or another logPath.`,
    });
  }
}

function fieldAt(record: JsonRecord, path: string): Json | undefined {
  return path.split('.').reduce<Json | undefined>((value, key) => (value as JsonRecord | undefined)?.[key], record);
}
