import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandOrThrow } from '../gates/command.js';
import { binary } from '../runtimes/toolbox.js';
import type { LocalRegistry } from './local-registry.js';

/** The package managers that users have. */
export const MANAGERS = ['npm', 'pnpm', 'yarn', 'bun'] as const;
export type Manager = (typeof MANAGERS)[number];

const YARN = 'yarn@1.22.22';

/** Creates an empty project and installs packages from a registry into it, without running any script of a dependency. */
export async function installProject(
  directory: string,
  manager: Manager,
  dependencies: Readonly<Record<string, string>>,
  registry: Pick<LocalRegistry, 'url' | 'npmrc'>,
): Promise<void> {
  mkdirSync(directory, { recursive: true });
  writeFileSync(
    join(directory, 'package.json'),
    JSON.stringify({ name: 'app', version: '1.0.0', private: true, type: 'module', dependencies }, null, 2),
  );
  writeFileSync(join(directory, '.npmrc'), registry.npmrc);
  // Yarn would take its own registry, and a workspace or a lockfile of a parent folder.
  writeFileSync(join(directory, '.yarnrc'), `registry "${registry.url}"\n`);
  const [program, ...args] = await installCommand(manager);
  await commandOrThrow(program, args, {
    cwd: directory,
    env: { npm_config_registry: registry.url, NPM_CONFIG_USERCONFIG: join(directory, '.npmrc'), CI: 'true', NODE_ENV: undefined },
  });
}

async function installCommand(manager: Manager): Promise<[program: string, ...args: string[]]> {
  switch (manager) {
    case 'npm':
      return ['npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
    case 'pnpm':
      return ['pnpm', 'install', '--ignore-workspace', '--ignore-scripts', '--no-frozen-lockfile', '--reporter=append-only'];
    case 'yarn':
      return ['npx', '--yes', YARN, 'install', '--ignore-scripts', '--no-progress', '--non-interactive', '--no-lockfile'];
    case 'bun':
      return [await binary('@oven', 'bin/bun'), 'install', '--ignore-scripts', '--no-progress'];
  }
}
