import { type CheckpointReference, NotFoundError, parseCheckpointPath, TinkexError } from '@tinkex/types';
import type { EndpointCaller } from '../calls/endpoint-caller.js';
import type { CallStep } from '../runtime/call-options.js';

/** The parts of a checkpoint's URL. */
export type CheckpointParams = Readonly<Record<'trainingRunId' | 'checkpointId', string>>;

/**
 * Makes a request about the checkpoint of a path. Servers differ in how they call a checkpoint: if this one knows none under the ID in the
 * path, the client sends the request again with the ID that its list gives.
 *
 * @throws `ValidationError` for an invalid path, before anything is sent.
 */
export async function requestByPath<T>(
  calls: EndpointCaller,
  tinkerPath: string,
  step: CallStep,
  request: (params: CheckpointParams) => Promise<T>,
): Promise<T> {
  const reference = parseCheckpointPath(tinkerPath);
  const { trainingRunId } = reference;
  try {
    return await request({ trainingRunId, checkpointId: reference.checkpointId });
  } catch (error) {
    const checkpointId = NotFoundError.isInstance(error) ? await findListedId(calls, tinkerPath, reference, step) : undefined;
    if (checkpointId === undefined) throw error;
    return request({ trainingRunId, checkpointId });
  }
}

/** The ID under which the list shows the checkpoint, if that is another one. A list that cannot be fetched decides nothing. */
async function findListedId(
  calls: EndpointCaller,
  tinkerPath: string,
  { trainingRunId, checkpointId, checkpointType, name }: CheckpointReference,
  step: CallStep,
): Promise<string | undefined> {
  try {
    const { checkpoints } = await calls.call('listCheckpoints', { params: { trainingRunId } }, { ...step, hasOuterRetry: false });
    const isMeant = (listed: (typeof checkpoints)[number]): boolean =>
      listed.tinkerPath === tinkerPath || (listed.checkpointType === (checkpointType ?? 'sampler') && listed.checkpointId === name);
    return checkpoints.find((listed) => isMeant(listed) && listed.checkpointId !== checkpointId)?.checkpointId;
  } catch (error) {
    if (step.signal.aborted || !TinkexError.isInstance(error)) throw error;
    return undefined;
  }
}
