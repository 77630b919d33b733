import type { LrSchedule, PriceTable } from '@tinkex/cookbook';
import type { TrainOnWhat } from '@tinkex/renderers';

/** What all recipes share. Everything that is not set has the default of the training loop. */
export interface SharedConfig {
  /** For editors: where the JSON schema of this file is. */
  readonly $schema?: string | undefined;
  /** The base model, such as `Qwen/Qwen3-8B`, or `tinkex/tiny` of the embedded engine. */
  readonly model: string;
  /** The run folder. A run that is there already continues. */
  readonly logPath: string;
  /** The server. A flag and `TINKER_BASE_URL` win over it. */
  readonly baseUrl?: string | undefined;
  /** Default: the renderer that the model was trained with. */
  readonly rendererName?: string | undefined;
  /** Default `auto`, from the table of models. */
  readonly learningRate?: number | 'auto' | undefined;
  readonly loraRank?: number | undefined;
  readonly numEpochs?: number | undefined;
  readonly evalEvery?: number | undefined;
  readonly saveEvery?: number | undefined;
  readonly maxSteps?: number | undefined;
  readonly maxSeconds?: number | undefined;
  /** Needs `prices`. */
  readonly maxCostUsd?: number | undefined;
  /** US dollars per million tokens of your model. */
  readonly prices?: PriceTable | undefined;
  /** Weights to start from, `tinker://…/weights/…`. */
  readonly loadCheckpointPath?: string | undefined;
}

/** Supervised training on conversations. */
export interface SftConfig extends SharedConfig {
  readonly recipe: 'sft';
  /** JSONL files: OpenAI's chat format, ShareGPT's or Alpaca's. Relative to the configuration. */
  readonly data: string | readonly string[];
  /** Conversations kept for evaluation. Default 0. */
  readonly testSize?: number | undefined;
  readonly batchSize?: number | undefined;
  readonly lrSchedule?: LrSchedule | undefined;
  readonly maxLength?: number | undefined;
  readonly tooLong?: 'truncate' | 'drop' | 'refuse' | undefined;
  readonly trainOnWhat?: TrainOnWhat | undefined;
}

/** How right an answer is, from 0 to 1. */
export type GradeAnswer = (text: string, expected: string) => number | boolean | Promise<number | boolean>;

/** Reinforcement learning on questions whose answers can be checked. */
export interface RlConfig extends SharedConfig {
  readonly recipe: 'rl';
  /** JSONL files with one `{"question", "answer"}` per line. Relative to the configuration. */
  readonly data: string | readonly string[];
  /** `exact` compares texts, `math` the `\boxed{…}` of the answer; a function is yours. Default `exact`. */
  readonly grade?: 'exact' | 'math' | GradeAnswer | undefined;
  /** The most tokens of an answer. */
  readonly maxTokens: number;
  readonly groupsPerBatch?: number | undefined;
  readonly groupSize?: number | undefined;
  readonly temperature?: number | undefined;
  /** What a wrong form takes from the reward. Default 0.1. */
  readonly formatCoefficient?: number | undefined;
}

/** Training on preferences. */
export interface DpoConfig extends SharedConfig {
  readonly recipe: 'dpo';
  /** A JSONL file of comparisons. Relative to the configuration. */
  readonly data: string;
  readonly batchSize?: number | undefined;
  readonly dpoBeta?: number | undefined;
  readonly lrSchedule?: LrSchedule | undefined;
  readonly maxLength?: number | undefined;
}

/** The content of `tinkex.config.ts`. */
export type ProjectConfig = SftConfig | RlConfig | DpoConfig;

/**
 * Gives editors the types of a configuration. Returns it unchanged.
 *
 * @example
 * ```ts
 * import { defineConfig } from 'tinkex';
 *
 * export default defineConfig({ recipe: 'sft', model: 'Qwen/Qwen3-8B', data: 'chats.jsonl', logPath: 'runs/chats' });
 * ```
 */
export function defineConfig(config: ProjectConfig): ProjectConfig {
  return config;
}
