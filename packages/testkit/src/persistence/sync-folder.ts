import { open } from 'node:fs/promises';

/** Resolves when the names in a folder survive a power failure. Windows neither needs nor offers it. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  await folder.sync().finally(() => folder.close());
}
