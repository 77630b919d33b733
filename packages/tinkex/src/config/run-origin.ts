import { readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { CommandFailure } from '../output/command-failure.js';
import { checkedConfig, type LoadedConfig } from './load-config.js';

/** The file of a run folder that says how the run was started. */
const FILE = 'tinkex.json';

/** Notes in the run folder what it is trained with, so that `tinkex resume` needs nothing else. Functions are not in it. */
export async function writeRunOrigin(runFolder: string, { config, folder }: LoadedConfig): Promise<void> {
  const origin = { config: { ...config, logPath: '.' }, folder: relative(runFolder, folder) };
  await writeFile(join(runFolder, FILE), `${JSON.stringify(origin, null, 2)}\n`);
}

/** Reads what a run was started with. */
export async function readRunOrigin(runFolder: string): Promise<LoadedConfig> {
  const path = join(runFolder, FILE);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch {
    throw new CommandFailure(`${runFolder} is not a run of \`tinkex train\``, {
      code: 'NO_RUN',
      cure: 'A run folder has the file tinkex.json. To continue a run of a program, start the program again.',
    });
  }
  const { config, folder } = JSON.parse(text) as { config: object; folder: string };
  const checked = await checkedConfig({ ...config, logPath: resolve(runFolder) }, path);
  return { config: checked, folder: resolve(runFolder, folder) };
}
