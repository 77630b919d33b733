import type { Clock } from '@tinkex/http';
import { type Checkpoint, ConfigurationError, type JsonObject, NotFoundError } from '@tinkex/types';
import { isMissingEndpoint } from '../calls/attempt-failure.js';
import type { EndpointCaller } from '../calls/endpoint-caller.js';
import { newestTrainingCheckpoint } from '../recovery/recovery-policy.js';
import type { CallStep } from '../runtime/call-options.js';
import type { TrainingClient } from './training-client.js';
import type { FromStateOptions } from './training-options.js';

/** The key of a checkpoint's metadata that holds its step. */
export const STEP_KEY = 'step';
/** The key of a run's metadata that holds the checkpoint that it continues from. */
const PARENT_KEY = 'tinkex_resumed_from';

/** What to continue from: the newest checkpoint of a run, or one path. */
export interface ResumeOptions extends FromStateOptions {
  /**
   * The run (`training.modelId`) whose newest training checkpoint is used. If it was resumed itself and has not saved yet: the checkpoint that
   * it was resumed from.
   */
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
  /** The `step` that the checkpoint was saved with, if it is known. */
  readonly step?: number | undefined;
}

/** @throws ConfigurationError unless exactly one of `trainingRunId` and `path` is set. */
export function checkResumeOptions({ trainingRunId, path }: ResumeOptions): void {
  if ((trainingRunId === undefined) === (path === undefined)) {
    throw new ConfigurationError({ message: 'resume needs either trainingRunId or path.', option: 'trainingRunId' });
  }
}

/** Where to continue: at the path of the options, or at the newest checkpoint of their run. */
export async function findResumePoint(
  calls: EndpointCaller,
  { path, trainingRunId }: ResumeOptions,
  step: CallStep,
  clock: Clock,
): Promise<Omit<ResumedTraining, 'training'>> {
  if (path !== undefined) return { path };
  const checkpoint = await findNewestCheckpoint(calls, trainingRunId as string, step, clock);
  return { path: checkpoint.tinkerPath, checkpoint, step: stepOf(checkpoint) };
}

/** The step that a checkpoint was saved with. */
function stepOf({ userMetadata }: Checkpoint): number | undefined {
  const text = userMetadata?.[STEP_KEY];
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The metadata of a run that continues from a checkpoint. */
export function resumedFrom(path: string, userMetadata: JsonObject | undefined): JsonObject {
  return { ...userMetadata, [PARENT_KEY]: path };
}

/** The checkpoint that a run was resumed from, if the server describes runs and it was. */
async function parentOf(calls: EndpointCaller, trainingRunId: string, step: CallStep): Promise<string | undefined> {
  try {
    return (await calls.call('getTrainingRun', { params: { trainingRunId } }, step)).userMetadata?.[PARENT_KEY];
  } catch (error) {
    if (isMissingEndpoint(error)) return undefined;
    throw error;
  }
}

/**
 * The newest checkpoint of a run; of a run without one, the checkpoint that it was resumed from.
 *
 * @throws NotFoundError when there is neither.
 */
async function findNewestCheckpoint(
  calls: EndpointCaller,
  trainingRunId: string,
  { signal, headers }: CallStep,
  clock: Clock,
): Promise<Checkpoint> {
  const listOf = async (runId: string): Promise<readonly Checkpoint[]> => {
    const { checkpoints } = await calls.call('listCheckpoints', { params: { trainingRunId: runId } }, { signal, headers });
    return checkpoints;
  };
  const newest = newestTrainingCheckpoint(await listOf(trainingRunId), clock.wallMs());
  if (newest !== undefined) return newest;
  const path = await parentOf(calls, trainingRunId, { signal, headers });
  const parentId = path === undefined ? undefined : /^tinker:\/\/([^/]+)\//.exec(path)?.[1];
  const parents = parentId === undefined ? [] : await listOf(parentId);
  const parent = newestTrainingCheckpoint(
    parents.filter(({ tinkerPath }) => tinkerPath === path),
    clock.wallMs(),
  );
  if (parent !== undefined) return parent;
  const hint = path === undefined ? 'Call saveState while you train.' : `The checkpoint that it was resumed from, ${path}, is gone.`;
  throw new NotFoundError({ message: `Run ${trainingRunId} has no training checkpoint to resume from. ${hint}`, status: 404 });
}
