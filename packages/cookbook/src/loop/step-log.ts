import {
  type CheckpointRecord,
  type Metrics,
  type MetricsSink,
  RUN_FILES,
  type RunWriter,
  type StepTimer,
  timingRecord,
} from '@tinkex/telemetry/runs';
import type { Checkpointer, PendingSave } from '../checkpoints/checkpointer.js';

/** What a step log writes to. */
export interface StepLogParts {
  readonly writer: RunWriter;
  readonly sinks: readonly MetricsSink[];
  readonly checkpointer: Checkpointer;
  readonly onStep?: ((step: number, metrics: Metrics) => void) | undefined;
}

/** Records finished steps, in order. */
export class StepLog {
  readonly #parts: StepLogParts;
  #metrics: Metrics | undefined;
  #record: CheckpointRecord | undefined;

  constructor(parts: StepLogParts) {
    this.#parts = parts;
  }

  /** The last record of metrics. */
  get metrics(): Metrics | undefined {
    return this.#metrics;
  }

  /** The last checkpoint that was recorded, if any. */
  get record(): CheckpointRecord | undefined {
    return this.#record;
  }

  /** Metrics first, then the checkpoint: a resumed run repeats the steps after a checkpoint, so that no record is lost between the two. */
  async add(step: number, metrics: Metrics, timer: StepTimer, save?: PendingSave | undefined): Promise<void> {
    const { writer, sinks, checkpointer, onStep } = this.#parts;
    await writer.appendMetrics(metrics, step);
    await writer.append(RUN_FILES.timingSpans, timingRecord(step, timer.spans));
    for (const sink of sinks) await sink.logMetrics(metrics, step);
    this.#metrics = metrics;
    if (save !== undefined) this.#record = (await checkpointer.record(save)) ?? this.#record;
    onStep?.(step, metrics);
  }
}
