import { type Checkpoint, ConfigurationError, NotFoundError } from '@tinkex/types';
import type { CallOptions } from '../runtime/call-options.js';
import { newestTrainingCheckpoint } from '../recovery/recovery-policy.js';
import type { Connection } from '../service/connection.js';
import type { TrainingClient } from './training-client.js';
import type { FromStateOptions } from './training-options.js';

/** Where to go on from: the newest checkpoint of a run, or one path. */
export interface ResumeOptions extends FromStateOptions {
  /** The run (`training.modelId`) whose newest training checkpoint is taken. */
  readonly trainingRunId?: string;
  /** The checkpoint itself, `tinker://…/weights/…`. */
  readonly path?: string;
  /** Whether the optimizer's state is loaded too, which makes the resumption exact. Default true. */
  readonly withOptimizer?: boolean;
}

/** Training that goes on. */
export interface ResumedTraining {
  /** A new model with the checkpoint's state. Its own saves go to its own run. */
  readonly training: TrainingClient;
  /** The path it was made of; its name tells how far training had come. */
  readonly path: string;
  /** What the list of checkpoints says about it; unset when a path was given. */
  readonly checkpoint?: Checkpoint;
}

/** @throws ConfigurationError when it is not clear what to resume. */
export function checkResumeOptions({ trainingRunId, path }: ResumeOptions): void {
  if ((trainingRunId === undefined) === (path === undefined)) {
    throw new ConfigurationError({ message: 'resume needs either trainingRunId or path', option: 'trainingRunId' });
  }
}

/** Finds the checkpoint and makes a model of it. The options are checked already. */
export async function resumeTraining(
  connection: Connection,
  options: ResumeOptions & CallOptions,
  create: (path: string, withOptimizer: boolean) => Promise<TrainingClient>,
): Promise<ResumedTraining> {
  const { trainingRunId, path, withOptimizer = true } = options;
  if (path !== undefined) return { training: await create(path, withOptimizer), path };
  const checkpoint = await newestCheckpoint(connection, trainingRunId as string, options);
  return { training: await create(checkpoint.tinkerPath, withOptimizer), path: checkpoint.tinkerPath, checkpoint };
}

async function newestCheckpoint(connection: Connection, trainingRunId: string, options: CallOptions): Promise<Checkpoint> {
  const { checkpoints } = await connection.call('listCheckpoints', { params: { trainingRunId } }, callOptions(options));
  const newest = newestTrainingCheckpoint(checkpoints, connection.clock.now());
  if (newest !== undefined) return newest;
  throw new NotFoundError({
    message: `Run ${trainingRunId} has no training checkpoint to resume from; use saveState while training`,
    status: 404,
  });
}

function callOptions({ signal, headers }: CallOptions): CallOptions {
  return { ...(signal === undefined ? {} : { signal }), ...(headers === undefined ? {} : { headers }) };
}
