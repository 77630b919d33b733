import { emitWarning } from '@tinkex/http/runtime';
import type { SessionFinishReason } from '@tinkex/types';
import type { ExportedWeights } from '../rest/checkpoint-content.js';
import type { CallStep } from '../runtime/call-options.js';
import type { ServiceClient } from './service-client.js';

const EXPORT_NAME = 'download';
/** The shortest time-to-live that the service allows: what a failed cleanup leaves behind is gone after it. */
const TTL_SECONDS = 3_600;
const CLEANUP_TIMEOUT_MS = 30_000;

/** Metadata of the session that an export runs in. */
export const EXPORT_METADATA = { created_by: 'tinkex downloadCheckpoint' } as const;

/**
 * Exports a training checkpoint: loads it into a new model and saves that model's weights as files. Takes over `service`, a
 * client for this export alone, and closes it.
 */
export async function exportWeights(service: ServiceClient, tinkerPath: string, step: CallStep): Promise<ExportedWeights> {
  const { signal, headers } = step;
  const rest = service.createRestClient();
  try {
    const training = await service.createTrainingClientFromState(tinkerPath, { signal, headers });
    const { path, sizeBytes } = await training.saveWeightsExternal(EXPORT_NAME, { ttlSeconds: TTL_SECONDS, signal, headers });
    return {
      sizeBytes,
      sign: async () => {
        await rest.setCheckpointTtlFromTinkerPath(path, TTL_SECONDS, { signal, headers });
        return rest.getExternalWeightsUrls(path, { signal, headers });
      },
      close: async () => {
        // The caller's signal may have fired: it ends the download, not the cleanup.
        await removeExport(() => rest.deleteCheckpointFromTinkerPath(path, { headers, timeoutMs: CLEANUP_TIMEOUT_MS }), path);
        await closeQuietly(service, 'success');
      },
    };
  } catch (error) {
    await closeQuietly(service, 'errored');
    throw error;
  }
}

/** The download has its own outcome: a session that cannot be finished must not replace it. */
async function closeQuietly(service: ServiceClient, status: SessionFinishReason): Promise<void> {
  try {
    await service.close(status);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    emitWarning(`The session of an export could not be finished. It ends without heartbeats. ${reason}`);
  }
}

async function removeExport(remove: () => Promise<void>, path: string): Promise<void> {
  try {
    await remove();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    emitWarning(`The temporary export ${path} could not be deleted. It expires within an hour. ${reason}`);
  }
}
