import type { DownloadCheckpointOptions, DownloadedCheckpoint, ServiceClient } from '@tinkex/clients';
import { ProgressBar } from '../output/progress-bar.js';
import type { CommandContext } from './command-context.js';

/** Downloads a checkpoint, with a progress bar for people. */
export async function downloadWithProgress(
  context: CommandContext,
  service: ServiceClient,
  path: string,
  options: Pick<DownloadCheckpointOptions, 'directory' | 'overwrite'>,
): Promise<DownloadedCheckpoint> {
  const { terminal, format, signal } = context;
  const { parseCheckpointPath } = await import('@tinkex/types');
  const isExported = parseCheckpointPath(path).checkpointType === 'training';
  if (isExported && format !== 'json') terminal.note('Exporting the weights first, in a separate session.');
  using bar = new ProgressBar(terminal, { isShown: format === 'table' });
  return await service.createRestClient().downloadCheckpoint(path, {
    ...options,
    onProgress: ({ receivedBytes, totalBytes, fileName }) => bar.update({ done: receivedBytes, total: totalBytes, label: fileName }),
    signal,
  });
}
