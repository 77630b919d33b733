import type { SftConfig } from './project-config.js';

/** What is known when a configuration is written. */
export interface StartingPoint {
  readonly data: string;
  readonly model: string;
  readonly isEmbedded: boolean;
  /** Conversations of the data. */
  readonly rows: number;
  readonly logPath: string;
}

const EMBEDDED_BATCH_SIZE = 16;
/** Steps in which the small engine learns a few dozen answers by heart. */
const EMBEDDED_STEPS = 80;
const EMBEDDED_LEARNING_RATE = 0.05;
const HOSTED_BATCH_SIZE = 128;
const MAX_EMBEDDED_EPOCHS = 200;

/** A configuration to start with. The embedded engine has no measured learning rate, needs more epochs, and keeps the rate constant. */
export function startingConfig({ data, model, isEmbedded, rows, logPath }: StartingPoint): SftConfig {
  const base = { recipe: 'sft', model, data, logPath } as const;
  if (!isEmbedded) return { ...base, batchSize: Math.max(1, Math.min(HOSTED_BATCH_SIZE, rows)), numEpochs: 3 };
  const batchSize = Math.max(1, Math.min(EMBEDDED_BATCH_SIZE, rows));
  const batches = Math.max(1, Math.floor(rows / batchSize));
  const numEpochs = Math.min(MAX_EMBEDDED_EPOCHS, Math.max(1, Math.ceil(EMBEDDED_STEPS / batches)));
  return { ...base, batchSize, numEpochs, learningRate: EMBEDDED_LEARNING_RATE, lrSchedule: 'constant', loraRank: 16 };
}
