import {
  ApiStatusError,
  type CheckpointArchiveUrlResponse,
  type ExternalWeightsUrlsResponse,
  NotFoundError,
  parseCheckpointPath,
} from '@tinkex/types';
import type { CheckpointContent } from '../checkpoints/checkpoint-content.js';
import type { CallStep } from '../runtime/call-options.js';
import { type ArchiveUrlParts, checkpointArchivePath, requestArchiveUrl } from './archive-url.js';
import { requestByPath } from './checkpoint-id.js';

/** A copy of weights as files, which exists only for one download. */
export interface ExportedWeights {
  readonly sizeBytes?: number | undefined;
  /** Signs the URLs of the files, and keeps them on the server for another hour. */
  readonly sign: () => Promise<ExternalWeightsUrlsResponse>;
  /** Deletes the copy. Never fails. */
  readonly close: () => Promise<void>;
}

/** What finding the content of a checkpoint uses of its client. */
export interface ContentParts extends ArchiveUrlParts {
  /** Saves the weights of a training checkpoint as files. */
  readonly exportWeights: (tinkerPath: string, step: CallStep) => Promise<ExportedWeights>;
}

/**
 * Finds out what a checkpoint can be downloaded as. External weights are files already. A training checkpoint is exported to files first,
 * which loads a model; a server without external weights therefore gives its archive instead, as it does for sampler weights.
 */
export async function openContent(parts: ContentParts, tinkerPath: string, step: CallStep): Promise<CheckpointContent> {
  const { checkpointType = 'sampler' } = parseCheckpointPath(tinkerPath);
  if (checkpointType === 'sampler') return archiveOfSampler(parts, tinkerPath, step);
  try {
    const sign = () => requestFileUrls(parts, tinkerPath, step);
    return { isArchive: false, signed: await sign(), sign, close: async () => undefined };
  } catch (error) {
    const isRefused = ApiStatusError.isInstance(error) && (error.status === 400 || error.status === 422);
    if (checkpointType === 'training' && isRefused) return exported(parts, tinkerPath, step);
    if (!isMissing(error)) throw error;
    return archive(parts, tinkerPath, step).catch((archiveFailure: unknown) => {
      if (!isMissing(archiveFailure)) throw archiveFailure;
      if (checkpointType === 'training') return exported(parts, tinkerPath, step);
      throw error;
    });
  }
}

/** Requests the signed URL of each file of an external checkpoint. */
export function requestFileUrls({ calls }: ArchiveUrlParts, tinkerPath: string, step: CallStep): Promise<ExternalWeightsUrlsResponse> {
  const { trainingRunId, checkpointId } = parseCheckpointPath(tinkerPath);
  return calls.call('externalWeightsUrls', { params: { trainingRunId, checkpointId } }, step);
}

async function exported(parts: ContentParts, tinkerPath: string, step: CallStep): Promise<CheckpointContent> {
  const { sizeBytes, sign, close } = await parts.exportWeights(tinkerPath, step);
  try {
    return { isArchive: false, sizeBytes, signed: await sign(), sign, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Requests the URL of a checkpoint's archive, by path. */
export function requestArchiveByPath(parts: ArchiveUrlParts, tinkerPath: string, step: CallStep): Promise<CheckpointArchiveUrlResponse> {
  return requestByPath(parts.calls, tinkerPath, step, ({ trainingRunId, checkpointId }) =>
    requestArchiveUrl(parts, checkpointArchivePath(trainingRunId, checkpointId), step),
  );
}

async function archive(parts: ContentParts, tinkerPath: string, step: CallStep): Promise<CheckpointContent> {
  const sign = async () => {
    const { url, expires } = await requestArchiveByPath(parts, tinkerPath, step);
    return { urls: { 'archive.tar': url }, expires };
  };
  return { isArchive: true, signed: await sign(), sign, close: async () => undefined };
}

async function archiveOfSampler(parts: ContentParts, tinkerPath: string, step: CallStep): Promise<CheckpointContent> {
  try {
    return await archive(parts, tinkerPath, step);
  } catch (error) {
    if (!isMissing(error)) throw error;
    const message = `${tinkerPath} does not exist, or the server offers no download of sampler weights. Save with saveWeightsExternal instead.`;
    throw new NotFoundError({ message, status: 404, cause: error });
  }
}

/** Whether the server has no such endpoint, or no such checkpoint: the answer does not say which. */
function isMissing(error: unknown): boolean {
  return ApiStatusError.isInstance(error) && (error.status === 404 || error.status === 405);
}
