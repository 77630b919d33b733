import type { Clock } from '@tinkex/http';
import { type Checkpoint, ConfigurationError, NotFoundError } from '@tinkex/types';
import type { EndpointCaller } from '../calls/endpoint-caller.js';
import { newestTrainingCheckpoint } from '../recovery/recovery-policy.js';
import type { CallStep } from '../runtime/call-options.js';
import type { TrainingClient } from './training-client.js';
import type { FromStateOptions } from './training-options.js';

/** What to continue from: the newest checkpoint of a run, or one path. */
export interface ResumeOptions extends FromStateOptions {
  /** The run (`training.modelId`) whose newest training checkpoint is used. */
  readonly trainingRunId?: string | undefined;
  /** The checkpoint itself, `tinker://…/weights/…`. */
  readonly path?: string | undefined;
  /**
   * Whether the optimizer's state is loaded too, which makes the resumption exact. False: a new optimizer, of the same kind. Default true.
   */
  readonly withOptimizer?: boolean | undefined;
}

/** Training that continues from a checkpoint. */
export interface ResumedTraining {
  /** A new model with the checkpoint's state. It saves to a new run. */
  readonly training: TrainingClient;
  /** The path of the checkpoint. */
  readonly path: string;
  /** The checkpoint's entry in the list of checkpoints; not set when you passed a path. */
  readonly checkpoint?: Checkpoint | undefined;
}

/** @throws ConfigurationError unless exactly one of `trainingRunId` and `path` is set. */
export function checkResumeOptions({ trainingRunId, path }: ResumeOptions): void {
  if ((trainingRunId === undefined) === (path === undefined)) {
    throw new ConfigurationError({ message: 'resume needs either trainingRunId or path.', option: 'trainingRunId' });
  }
}

/** @throws NotFoundError when the run has no training checkpoint. */
export async function findNewestCheckpoint(
  calls: EndpointCaller,
  trainingRunId: string,
  { signal, headers }: CallStep,
  clock: Clock,
): Promise<Checkpoint> {
  const { checkpoints } = await calls.call('listCheckpoints', { params: { trainingRunId } }, { signal, headers });
  const newest = newestTrainingCheckpoint(checkpoints, clock.wallMs());
  if (newest !== undefined) return newest;
  throw new NotFoundError({
    message: `Run ${trainingRunId} has no training checkpoint to resume from. Call saveState while you train.`,
    status: 404,
  });
}
