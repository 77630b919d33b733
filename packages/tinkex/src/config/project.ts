import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** A folder that commands work in. */
export interface Project {
  /** Where the configuration or the state is; the current folder if there is neither. */
  readonly root: string;
  /** `tinkex.config.ts` or one of its other forms. */
  readonly configFile?: string | undefined;
}

/** The names of a configuration, the first that exists wins. */
export const CONFIG_FILES = [
  'tinkex.config.ts',
  'tinkex.config.mts',
  'tinkex.config.js',
  'tinkex.config.mjs',
  'tinkex.config.json',
] as const;

/** The folder of what the command itself keeps in a project. */
const STATE_FOLDER = '.tinkex';

/** Finds the project that a folder belongs to: the nearest folder, from here upwards, with a configuration or a state. */
export function findProject(from: string): Project {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const configFile = CONFIG_FILES.map((name) => join(folder, name)).find((file) => existsSync(file));
    if (configFile !== undefined) return { root: folder, configFile };
    if (existsSync(join(folder, STATE_FOLDER))) return { root: folder };
    if (dirname(folder) === folder) return { root: resolve(from) };
  }
}

/** Where the embedded engine keeps its sessions, models and checkpoints. */
export function engineFolder({ root }: Project): string {
  return join(root, STATE_FOLDER, 'engine');
}

/** Where the schema of the configuration is written for editors. */
export function schemaFile({ root }: Project): string {
  return join(root, STATE_FOLDER, 'config.schema.json');
}
