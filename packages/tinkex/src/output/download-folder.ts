import { wrongUsage } from './command-failure.js';

/** Where a checkpoint goes: its path without the scheme, with `_` between the parts. */
export function downloadFolderName(tinkerPath: string): string {
  return tinkerPath.replace(/^tinker:\/\//, '').replaceAll('/', '_');
}

/** Refuses paths that no server offers for download. */
export async function requireDownloadable(tinkerPath: string): Promise<'training' | 'external'> {
  const { parseCheckpointPath } = await import('@tinkex/types');
  const { checkpointType } = parseCheckpointPath(tinkerPath);
  if (checkpointType === 'training' || checkpointType === 'external') return checkpointType;
  throw wrongUsage(
    `${tinkerPath} cannot be downloaded: sampler weights stay on the server`,
    'Use the training checkpoint of the same step (tinker://…/weights/…), or save external weights.',
  );
}
