import type { TrainingClient } from '@tinkex/clients';
import { getRecommendedRendererName, getRenderer, type Renderer, toRendererTokenizer } from '@tinkex/renderers';
import type { CheckpointRecord } from '@tinkex/telemetry/runs';
import { ApiStatusError, NotFoundError, RequestFailedError } from '@tinkex/types';
import type { ResolvedTrainOptions } from './train-options.js';

/** A model to train, and the checkpoint it continues from. */
export interface OpenedTraining {
  readonly training: TrainingClient;
  readonly record?: CheckpointRecord | undefined;
}

/**
 * Creates the model: from the newest checkpoint of the run that still exists, from `loadCheckpointPath`, or new. Checkpoints expire, and rolling ones stay
 * listed after they were deleted.
 */
export async function openTraining(config: ResolvedTrainOptions, checkpoints: readonly CheckpointRecord[]): Promise<OpenedTraining> {
  const { service, model, loraRank, loadCheckpointPath, rendererName, onWarning } = config;
  const userMetadata = rendererName === undefined ? undefined : { renderer_name: rendererName };
  const candidates = checkpoints.filter(({ statePath }) => statePath !== undefined).toReversed();
  for (const [index, record] of candidates.entries()) {
    const path = record.statePath as string;
    try {
      return { training: await service.createTrainingClientFromStateWithOptimizer(path, { userMetadata }), record };
    } catch (error) {
      if (!isMissing(error) || index === candidates.length - 1) throw error;
      onWarning(`The checkpoint ${path} does not exist any more. An older one is used.`, error);
    }
  }
  if (loadCheckpointPath !== undefined) {
    return { training: await service.createTrainingClientFromState(loadCheckpointPath, { userMetadata }) };
  }
  return { training: await service.createLoraTrainingClient({ baseModel: model, rank: loraRank, userMetadata }) };
}

/** The renderer of the configuration, or the one the model was trained with. */
export async function openRenderer(
  { renderer, rendererName, model }: Pick<ResolvedTrainOptions, 'renderer' | 'rendererName' | 'model'>,
  training: Pick<TrainingClient, 'getTokenizer'>,
): Promise<Renderer> {
  if (renderer !== undefined) return renderer;
  return getRenderer(rendererName ?? getRecommendedRendererName(model), toRendererTokenizer(await training.getTokenizer()));
}

function isMissing(error: unknown): boolean {
  if (NotFoundError.isInstance(error)) return true;
  if (ApiStatusError.isInstance(error)) return error.status === 410;
  return RequestFailedError.isInstance(error) && error.category === 'user';
}
