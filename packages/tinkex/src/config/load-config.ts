import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandFailure } from '../output/command-failure.js';
import { EXIT } from '../output/exit-codes.js';
import { nearest } from '../output/nearest-name.js';
import { findProject } from './project.js';
import type { ProjectConfig } from './project-config.js';

/** A configuration, and the folder that its paths start from. */
export interface LoadedConfig {
  readonly config: ProjectConfig;
  readonly folder: string;
}

/** Reads the configuration that a flag names, or that of the project. Undefined if there is none. */
export async function loadConfig(file: string | undefined): Promise<LoadedConfig | undefined> {
  const path = file === undefined ? findProject(process.cwd()).configFile : resolve(file);
  if (path === undefined) return undefined;
  if (!existsSync(path)) throw invalid(`There is no file ${path}`, []);
  const value = path.endsWith('.json') ? await readJson(path) : await importModule(path);
  return { config: await checkedConfig(value, path), folder: dirname(path) };
}

/** Checks a configuration. Throws a failure that lists everything that is wrong. */
export async function checkedConfig(value: unknown, where: string): Promise<ProjectConfig> {
  const { checkConfig, configNames } = await import('./config-schema.js');
  const checked = checkConfig(value);
  if ('config' in checked) return checked.config;
  const { recipe } = (value ?? {}) as { recipe?: unknown };
  const details = checked.issues.map(({ path, message }) => {
    const unknown = /^Unrecognized keys?: "([^"]+)"/.exec(message)?.[1];
    const guess = unknown === undefined ? undefined : nearest(unknown, configNames(recipe));
    return `${path === '' ? '' : `${path}: `}${message}${guess === undefined ? '' : `. Did you mean "${guess}"?`}`;
  });
  throw invalid(`${where} is not a valid configuration`, details);
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw invalid(`${path} is not JSON`, [(error as Error).message]);
  }
}

/** Imports a module, TypeScript included. `tinkex` is this package, whether the project has installed it or not. */
async function importModule(path: string): Promise<unknown> {
  const { createJiti } = await import('jiti');
  const jiti = createJiti(import.meta.url, { alias: { tinkex: indexFile() }, fsCache: false, moduleCache: false });
  try {
    return await jiti.import(path, { default: true });
  } catch (error) {
    throw invalid(`${path} could not be loaded`, [(error as Error).message]);
  }
}

/** The entry point of this package: beside the command, or one folder up from a shared file of its bundle. */
function indexFile(): string {
  const candidates = ['./index.js', '../index.js', '../index.ts'].map((file) => fileURLToPath(new URL(file, import.meta.url)));
  return candidates.find((file) => existsSync(file)) ?? 'tinkex';
}

function invalid(message: string, details: readonly string[]): CommandFailure {
  return new CommandFailure(message, {
    code: 'INVALID_CONFIG',
    details,
    exitCode: EXIT.invalidData,
    cure: '`tinkex init` writes one, and docs/guides/command-line.md lists its fields.',
  });
}
