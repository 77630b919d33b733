import { ConfigurationError, endpoints } from '@tinkex/types';

/** Path values of the checkpoint endpoints. Empty ids would address something else, so they are refused here. */
export function checkpointParams(trainingRunId: string, checkpointId: string): { trainingRunId: string; checkpointId: string } {
  if (trainingRunId === '') throw new ConfigurationError({ message: 'The training run id is empty.', option: 'trainingRunId' });
  if (checkpointId === '' || checkpointId.endsWith('/')) {
    throw new ConfigurationError({ message: 'The checkpoint id is empty.', option: 'checkpointId' });
  }
  return { trainingRunId, checkpointId };
}

/** The path of a checkpoint endpoint; values are put in as they are, so a checkpoint id keeps its slash. */
export function checkpointPath(key: 'checkpointArchive', trainingRunId: string, checkpointId: string): string {
  const params: Record<string, string> = checkpointParams(trainingRunId, checkpointId);
  return endpoints[key].path.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => params[name] ?? placeholder);
}
