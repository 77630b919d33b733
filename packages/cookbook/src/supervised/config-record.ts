import type { JsonRecord } from '@tinkex/telemetry/runs';
import { trainConfigRecord } from '../loop/train-options.js';
import type { ResolvedConfig } from './config.js';

/** What a run trains on, as `config.json` describes it. */
export interface DataFacts {
  /** Undefined for examples of the user's own. */
  readonly rendererName?: string | undefined;
  readonly rows?: number | undefined;
  /** Batches of the first epoch. */
  readonly batches: number;
}

/** What may not change when a run continues. */
export const FIXED_FIELDS = [
  'model_name',
  'lora_rank',
  'dataset_builder.batch_size',
  'dataset_builder.batch_tokens',
  'dataset_builder.rows',
] as const;

/** `config.json` of a run, under the reference's names. */
export function configRecord(config: ResolvedConfig, { rendererName, rows, batches }: DataFacts): JsonRecord {
  return {
    ...trainConfigRecord(config),
    recipe_name: 'supervised',
    renderer_name: rendererName ?? null,
    dataset_builder: { batch_size: config.batchSize ?? null, batch_tokens: config.batchTokens ?? null, rows: rows ?? null, batches },
    lr_schedule: config.lrSchedule,
    warmup_steps: config.warmupSteps,
    num_epochs: config.numEpochs,
    infrequent_eval_every: config.infrequentEvalEvery,
    max_tokens: config.maxTokens ?? null,
    submit_ahead: config.submitAhead,
  };
}
