import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandOrThrow } from '../gates/command.js';
import { root } from '../packages.mjs';
import { PINS } from './pins.js';

/** Where the runtimes are kept between runs. */
export const TOOLBOX = join(root, 'temp', 'runtimes');

/**
 * Installs the pinned runtimes, unless they are there. Their install scripts do not run: those would only link, or download, the binary that npm has already
 * put beside them as the optional package for this platform.
 */
export async function fillToolbox(): Promise<void> {
  const { '@sparticuz/chromium': chromium, ...everywhere } = PINS;
  const dependencies = hasPackedBrowser() ? { ...everywhere, '@sparticuz/chromium': chromium } : everywhere;
  await installTools(TOOLBOX, dependencies);
}

/** Installs exactly these packages into a folder, unless they are there. Install scripts do not run. */
export async function installTools(folder: string, dependencies: Readonly<Record<string, string>>): Promise<void> {
  const manifest = JSON.stringify({ name: 'tools', private: true, type: 'module', dependencies }, null, 2);
  const stamp = join(folder, 'installed.json');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === manifest) return;
  console.log(
    `installing ${Object.entries(dependencies)
      .map((pin) => pin.join(' '))
      .join(', ')}`,
  );
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), manifest);
  await commandOrThrow('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--loglevel=error'], {
    cwd: folder,
  });
  writeFileSync(stamp, manifest);
}

/** Whether there is a Chromium in the registry that runs on this machine. */
export function hasPackedBrowser(): boolean {
  return process.platform === 'linux' && process.arch === 'x64';
}

/** The binary in the platform's package: of several, which npm installs when it cannot tell the C library, the first that starts. */
export async function binary(scope: '@oven' | '@deno', path: string): Promise<string> {
  const file = process.platform === 'win32' ? `${path}.exe` : path;
  const folder = join(TOOLBOX, 'node_modules', scope);
  const found = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name, file)) : [];
  const errors: unknown[] = [];
  for (const candidate of found.filter((one) => existsSync(one))) {
    try {
      await commandOrThrow(candidate, ['--version']);
      return candidate;
    } catch (error) {
      errors.push(error);
    }
  }
  throw new AggregateError(errors, `npm has no ${scope} package for ${process.platform} on ${process.arch} that starts`);
}
