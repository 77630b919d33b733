import type { TrainingClient } from '@tinkex/clients';
import { type Clock, systemClock } from '@tinkex/http';
import { type CheckpointRecord, type JsonRecord, type Metrics, type RunFolder, RunWriter } from '@tinkex/telemetry/runs';
import { Spending } from '../budget/spending.js';
import { Checkpointer, type CheckpointPosition } from '../checkpoints/checkpointer.js';
import { checkpointName } from '../checkpoints/save-policy.js';
import type { OpenedTraining } from './open-training.js';
import type { StopReason, TrainingState } from './plan.js';
import { checkSameRun, describeChanges } from './same-run.js';
import { isSavedAt } from './state-record.js';
import { StepLog } from './step-log.js';
import type { ResolvedTrainOptions } from './train-options.js';

/** What a run has come to. */
export interface TrainingRun {
  readonly logPath: string;
  /** Steps that the weights have taken. */
  readonly step: number;
  /** Tokens of these steps. */
  readonly tokens: number;
  readonly stopReason: StopReason;
  /** Weights to continue from. */
  readonly statePath: string | undefined;
  /** Weights to sample from. */
  readonly samplerPath: string | undefined;
  /** Metrics of the last step. */
  readonly metrics: Metrics;
}

/** What a driver of a loop uses. */
export interface RunParts {
  readonly training: TrainingClient;
  readonly checkpointer: Checkpointer;
  readonly spending: Spending;
  readonly writer: RunWriter;
  readonly log: StepLog;
  readonly clock: Clock;
}

/** Where a driver has stopped. */
export interface DrivenRun {
  readonly state: TrainingState;
  readonly stopReason: StopReason;
}

/** A run that is ready to start. */
export interface RunSetup {
  readonly config: ResolvedTrainOptions;
  readonly opened: OpenedTraining;
  /** The run folder as it was found. */
  readonly previous: RunFolder;
  /** `config.json`. */
  readonly record: JsonRecord;
  /** Fields of `record` that may not change when a run continues. */
  readonly fixedFields: readonly string[];
  /** Where the run starts or continues. */
  readonly state: TrainingState;
  /** Where a checkpoint of a state stands. */
  readonly positionOf: (state: TrainingState) => CheckpointPosition;
  readonly drive: (parts: RunParts, state: TrainingState) => Promise<DrivenRun>;
}

/** Carries out a run between opening its folder and saving its last checkpoint. */
export async function runTraining(setup: RunSetup): Promise<TrainingRun> {
  const { config, opened, previous, record, fixedFields, state } = setup;
  if (opened.record !== undefined && previous.config !== undefined) {
    checkSameRun(previous.config, record, fixedFields);
    const changes = describeChanges(previous.config, record);
    if (changes !== undefined) config.onWarning(changes, undefined);
  }
  const writer = await RunWriter.open(config.logPath);
  try {
    await writer.rewindMetrics(state.step);
    await writer.writeConfig(record);
    for (const sink of config.sinks) await sink.logConfig?.(record);
    return await driveAndSave(setup, writer);
  } finally {
    await writer.close();
    for (const sink of config.sinks) await sink.close?.();
  }
}

async function driveAndSave(
  { config, opened, previous, state: start, positionOf, drive }: RunSetup,
  writer: RunWriter,
): Promise<TrainingRun> {
  const { service, logPath, sinks, onStep, clock = systemClock, onWarning } = config;
  const { training, record: resumed } = opened;
  const rest = service.createRestClient();
  const deleteCheckpoint = (path: string) => rest.deleteCheckpointFromTinkerPath(path);
  const rollingPath = resumed?.extra.rolling === true ? resumed.statePath : undefined;
  const checkpointer = new Checkpointer({ ...config, training, writer, deleteCheckpoint, onWarning }, rollingPath);
  const spending = await Spending.open(writer, config);
  const log = new StepLog({ writer, sinks, checkpointer, onStep });
  const { state, stopReason } = await drive({ training, checkpointer, spending, writer, log, clock }, start);
  const last = await saveLast({ checkpointer, state, stopReason, saved: log.record, resumed, positionOf });
  const { step, tokens } = state;
  const earlier = previous.metrics.findLast(({ step: at }) => typeof at === 'number' && at < step) as Metrics | undefined;
  const metrics = log.metrics ?? earlier ?? {};
  return { logPath, step, tokens, stopReason, statePath: last?.statePath, samplerPath: last?.samplerPath, metrics };
}

interface LastSave {
  readonly checkpointer: Checkpointer;
  readonly state: TrainingState;
  readonly stopReason: StopReason;
  /** The last checkpoint of this process. */
  readonly saved: CheckpointRecord | undefined;
  /** The checkpoint that this process continued from. */
  readonly resumed: CheckpointRecord | undefined;
  readonly positionOf: RunSetup['positionOf'];
}

/** Saves where the run ended, unless that is saved already. A run that was aborted has no final checkpoint. */
async function saveLast({ checkpointer, state, stopReason, saved, resumed, positionOf }: LastSave): Promise<CheckpointRecord | undefined> {
  const last = saved ?? resumed;
  const isAborted = stopReason === 'aborted';
  const isSaved = last !== undefined && last.extra.rolling !== true && isSavedAt(last, state.step);
  if (isSaved && (isAborted || last?.final === true)) return last;
  const name = isAborted ? `${checkpointName(state.step)}${isSavedAt(saved, state.step) ? '-stopped' : ''}` : 'final';
  return checkpointer.record(checkpointer.submit(isAborted ? 'periodic' : 'final', name, positionOf(state)));
}
