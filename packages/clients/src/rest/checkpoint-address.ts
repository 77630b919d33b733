import { ConfigurationError } from '@tinkex/types';
import { endpoints } from '@tinkex/types/wire';

/** The path of a checkpoint's archive; values are put in as they are, so a checkpoint id keeps its slash. */
export function checkpointArchivePath(trainingRunId: string, checkpointId: string): string {
  for (const [option, value] of Object.entries({ trainingRunId, checkpointId })) {
    if (value === '' || value.endsWith('/'))
      throw new ConfigurationError({ message: `The ${option} ${JSON.stringify(value)} is incomplete.`, option });
  }
  return endpoints.checkpointArchive.path.replace('{training_run_id}', () => trainingRunId).replace('{checkpoint_id}', () => checkpointId);
}
