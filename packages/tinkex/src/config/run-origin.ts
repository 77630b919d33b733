import { readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { CommandFailure } from '../output/command-failure.js';
import { checkedConfig, type LoadedConfig } from './load-config.js';

/** The file of a run folder that says how the run was started. */
const FILE = 'tinkex.json';

/** Notes in the run folder what it is trained with, so that `tinkex resume` needs nothing else. Of functions only the names are in it. */
export async function writeRunOrigin(runFolder: string, { config, folder }: LoadedConfig): Promise<void> {
  const functions = Object.entries(config).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []));
  const origin = { config: { ...config, logPath: '.' }, folder: relative(runFolder, folder), functions };
  await writeFile(join(runFolder, FILE), `${JSON.stringify(origin, null, 2)}\n`);
}

/** Reads what a run was started with. Refuses a run that needs a function of its configuration: another one would change what is trained. */
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
  const { config, folder, functions = [] } = JSON.parse(text) as { config: object; folder: string; functions?: string[] };
  if (functions.length > 0)
    throw new CommandFailure(
      `The configuration of ${runFolder} has a function (${functions.join(', ')}), which a run folder cannot store`,
      {
        code: 'NEEDS_CONFIGURATION',
        cure: 'Run `tinkex train` again with the same configuration file: it continues the run.',
      },
    );
  const checked = await checkedConfig({ ...config, logPath: resolve(runFolder) }, path);
  return { config: checked, folder: resolve(runFolder, folder) };
}
