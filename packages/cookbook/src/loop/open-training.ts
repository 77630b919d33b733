import type { TrainingClient } from '@tinkex/clients';
import {
  getRecommendedRendererName,
  getRenderer,
  type HuggingFaceTokenizer,
  huggingFaceTokenizer,
  type Renderer,
  type RendererTokenizer,
} from '@tinkex/renderers';
import type { CheckpointRecord } from '@tinkex/telemetry/runs';
import { ApiStatusError, encodedIds, isByteTokenizerId, NotFoundError, RequestFailedError, type Tokenizer } from '@tinkex/types';
import type { ResolvedTrainOptions } from './train-options.js';

/** A model to train, and the checkpoint it continues from. */
export interface OpenedTraining {
  readonly training: TrainingClient;
  readonly record?: CheckpointRecord | undefined;
}

/** The renderer of models that read bytes, which have no template. */
const BYTE_RENDERER = 'role_colon';

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
  const name = rendererName ?? (isByteTokenizerId(model) ? BYTE_RENDERER : getRecommendedRendererName(model));
  return getRenderer(name, toRendererTokenizer(await training.getTokenizer()));
}

/** A client's tokenizer as renderers use it. */
export function toRendererTokenizer(tokenizer: Tokenizer): RendererTokenizer {
  if ('token_to_id' in tokenizer) return huggingFaceTokenizer(tokenizer as unknown as HuggingFaceTokenizer);
  return {
    encode: (text) => encodedIds(tokenizer.encode(text)),
    decode: (ids, { skipSpecialTokens = false } = {}) => tokenizer.decode(ids, { skipSpecialTokens }),
    tokenId: (token) => tokenizer.tokenId?.(token),
    eosTokenId: tokenizer.eosTokenId,
  };
}

function isMissing(error: unknown): boolean {
  if (NotFoundError.isInstance(error)) return true;
  if (ApiStatusError.isInstance(error)) return error.status === 410;
  return RequestFailedError.isInstance(error) && error.category === 'user';
}
