import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from '../../gates/command.js';
import { root } from '../../packages.mjs';
import { NotAvailable, requirePython } from '../python-environments.js';
import type { EngineServer } from './servers.js';

/** Everything that the command keeps between runs. */
export const ENGINES_CACHE = join(root, 'node_modules', '.cache', 'tinkex-engines');
const INSTALL_LIMIT_MS = 1_800_000;

/** A server that is installed. */
export interface ServerEnvironment {
  readonly folder: string;
  readonly version: string;
}

/**
 * Installs a server from PyPI into its own virtual environment, or finds it there.
 *
 * @throws {@link NotAvailable} without Python 3.11 or newer, or when PyPI cannot be reached.
 */
export async function serverEnvironment({ packageName, installs }: EngineServer): Promise<ServerEnvironment> {
  await requirePython();
  const folder = join(ENGINES_CACHE, packageName);
  await mkdir(ENGINES_CACHE, { recursive: true });
  const python = join(folder, 'bin', 'python');
  const installed = await versionOf(python, packageName);
  if (installed !== undefined) return { folder, version: installed };
  if (!existsSync(join(folder, 'bin', 'pip'))) {
    const made = await command('python3', ['-m', 'venv', folder], { timeoutMs: INSTALL_LIMIT_MS });
    if (made.code !== 0) throw new NotAvailable(`python3 -m venv failed: ${lastLine(made.output)}`);
  }
  // The server itself is in the last list: an environment that has it is complete.
  for (const requirements of installs) {
    console.log(`installing ${requirements.join(' ')}`);
    const install = await command(python, ['-m', 'pip', 'install', '--quiet', ...requirements], { timeoutMs: INSTALL_LIMIT_MS });
    if (install.code !== 0)
      throw new NotAvailable(`pip could not install ${packageName} (is PyPI reachable?): ${lastLine(install.output)}`);
  }
  const version = await versionOf(python, packageName);
  if (version === undefined) throw new NotAvailable(`${packageName} is not in its environment after the installation`);
  return { folder, version };
}

async function versionOf(python: string, packageName: string): Promise<string | undefined> {
  if (!existsSync(python)) return undefined;
  const { code, stdout } = await command(python, ['-c', `import importlib.metadata as m; print(m.version('${packageName}'))`]);
  return code === 0 ? stdout.trim() : undefined;
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
