import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigurationError } from '@tinkex/types';

/** Makes a folder whose content `write` produces. It appears complete or not at all. */
export async function writeNewFolder<Result>(target: string, write: (folder: string) => Promise<Result>): Promise<Result> {
  await requireAbsent(target);
  await mkdir(dirname(resolve(target)), { recursive: true });
  const folder = await mkdtemp(`${resolve(target)}.partial-`);
  try {
    const result = await write(folder);
    await requireAbsent(target);
    await rename(folder, target);
    return result;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function requireAbsent(target: string): Promise<void> {
  const found = await stat(target).catch(() => undefined);
  if (found === undefined) return;
  throw new ConfigurationError({ option: 'directory', message: `${target} exists already. Choose another folder, or remove it.` });
}
