import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type CommandResult, command } from '../gates/command.js';
import { root } from '../packages.mjs';

/** Why the Python SDK cannot be run here. Not a failure of what is tested. */
export class NotAvailable extends Error {
  override readonly name = 'NotAvailable';
}

/** A virtual environment with one version of the Python SDK. */
export interface PythonEnvironment {
  /** The version that is installed. */
  readonly version: string;
  readonly hasTorch: boolean;
  /** Runs a program of the environment with its own home: nothing of the user's is read. */
  run(
    program: 'python' | 'tinker',
    args: readonly string[],
    variables: Readonly<Record<string, string | undefined>>,
    input?: string,
    timeoutMs?: number,
    cwd?: string,
  ): Promise<CommandResult>;
  /** The home folder, which is also where programs run unless they are given another. */
  readonly home: string;
}

/** The Python cookbook whose loops and files are compared, with what it needs and what reads our files. */
const COOKBOOK_PACKAGES = ['tinker==0.36.0', 'tinker-cookbook==0.5.8', 'torch==2.13.0', 'peft', 'safetensors', 'tensorboard'];

const CACHE = join(root, 'node_modules', '.cache', 'tinkex-conformance');
const INSTALL_TIMEOUT_MS = 480_000;

/**
 * Makes (or finds in the cache) an environment with a version of the SDK from PyPI.
 *
 * @param wanted - A version, or `newest`.
 * @param torch - A version of torch to install as well, for custom losses; it is large.
 * @throws {@link NotAvailable} without Python 3.11 or newer, or when PyPI cannot be reached and nothing is cached.
 */
export async function pythonEnvironment(wanted: string, torch?: string): Promise<PythonEnvironment> {
  await requirePython();
  const folder = join(CACHE, `${wanted === 'newest' ? 'newest' : `v${wanted}`}${torch === undefined ? '' : `-torch-${torch}`}`);
  const home = join(folder, 'home');
  await mkdir(home, { recursive: true });
  const python = join(folder, 'bin', 'python');
  // pip comes last: an environment without it was interrupted, or could not be completed, and is created again.
  if (!existsSync(join(folder, 'bin', 'pip')))
    await must(command('python3', ['-m', 'venv', folder], { timeoutMs: 120_000 }), 'python3 -m venv failed');
  const requirement = wanted === 'newest' ? ['--upgrade', 'tinker'] : [`tinker==${wanted}`];
  const extra = torch === undefined ? [] : [`torch==${torch}`];
  const isCached = (await versionIn(python, home)) !== undefined;
  const install = await command(python, ['-m', 'pip', 'install', '--quiet', ...requirement, ...extra], {
    env: { HOME: home },
    timeoutMs: INSTALL_TIMEOUT_MS,
  });
  if (install.code !== 0 && !isCached)
    throw new NotAvailable(`pip could not install tinker (is PyPI reachable?): ${lastLine(install.output)}`);
  const version = await versionIn(python, home);
  if (version === undefined) throw new NotAvailable(`tinker is installed but cannot be imported from ${folder}`);
  const hasTorch = (await command(python, ['-c', 'import torch'], { env: { HOME: home } })).code === 0;
  return {
    version,
    hasTorch,
    home,
    run: (program, args, variables, input = '', timeoutMs = 240_000) =>
      command(join(folder, 'bin', program), args, {
        cwd: home,
        env: { ...withoutTinkerVariables(), HOME: home, ...variables },
        timeoutMs,
        input,
      }),
  };
}

/**
 * Makes (or finds in the cache) an environment with the Python cookbook, torch, peft and TensorBoard: about a gigabyte.
 *
 * @throws {@link NotAvailable} as {@link pythonEnvironment} does.
 */
export async function cookbookEnvironment(): Promise<PythonEnvironment> {
  await requirePython();
  const folder = join(CACHE, 'cookbook');
  const home = join(folder, 'home');
  await mkdir(home, { recursive: true });
  const python = join(folder, 'bin', 'python');
  const check = 'import importlib.metadata as m; m.version("tensorboard"); m.version("peft"); print(m.version("tinker-cookbook"))';
  const isComplete = async (): Promise<boolean> =>
    existsSync(python) && (await command(python, ['-c', check], { env: { HOME: home } })).code === 0;
  if (!(await isComplete())) {
    await must(command('python3', ['-m', 'venv', folder], { timeoutMs: 120_000 }), 'python3 -m venv failed');
    const install = command(python, ['-m', 'pip', 'install', '--quiet', ...COOKBOOK_PACKAGES], { env: { HOME: home }, timeoutMs: 900_000 });
    await must(install, 'pip could not install the Python cookbook (is PyPI reachable?)');
  }
  return {
    version: '0.36.0',
    hasTorch: true,
    home,
    run: (program, args, variables, input = '') =>
      command(join(folder, 'bin', program), args, {
        cwd: home,
        env: { ...withoutTinkerVariables(), HOME: home, ...variables },
        timeoutMs: 600_000,
        input,
      }),
  };
}

/**
 * Makes (or finds in the cache) an environment with the newest Python cookbook and the newest SDK that pip can install together, for the programs of the cookbook.
 *
 * @throws {@link NotAvailable} as {@link pythonEnvironment} does.
 */
export async function recipesEnvironment(): Promise<PythonEnvironment> {
  await requirePython();
  const folder = join(CACHE, 'recipes');
  const home = join(folder, 'home');
  await mkdir(home, { recursive: true });
  const python = join(folder, 'bin', 'python');
  if (!existsSync(join(folder, 'bin', 'pip')))
    await must(command('python3', ['-m', 'venv', folder], { timeoutMs: 120_000 }), 'python3 -m venv failed');
  const packages = ['--upgrade', 'tinker', 'tinker-cookbook[math-rl]', 'torch==2.13.0'];
  const install = await command(python, ['-m', 'pip', 'install', '--quiet', ...packages], { env: { HOME: home }, timeoutMs: 900_000 });
  const print = "import importlib.metadata as m; print(m.version('tinker'), m.version('tinker-cookbook'))";
  const { code, stdout } = await command(python, ['-c', print], { env: { HOME: home } });
  if (code !== 0) throw new NotAvailable(`pip could not install the Python cookbook (is PyPI reachable?): ${lastLine(install.output)}`);
  console.log(`  tinker and tinker-cookbook ${stdout.trim()}`);
  return {
    version: stdout.trim().split(' ')[0] as string,
    hasTorch: true,
    home,
    run: (program, args, variables, input = '', timeoutMs = 900_000, cwd = home) =>
      command(join(folder, 'bin', program), args, {
        cwd,
        env: { ...withoutTinkerVariables(), HOME: home, ...variables },
        timeoutMs,
        input,
      }),
  };
}

/** @throws {@link NotAvailable} without Python 3.11 or newer. */
export async function requirePython(): Promise<void> {
  const result = await command('python3', ['-c', 'import sys, venv; print(sys.version_info >= (3, 11))']).catch(() => undefined);
  if (result === undefined || result.code !== 0) throw new NotAvailable('there is no python3 with venv on this machine');
  if (result.stdout.trim() !== 'True') throw new NotAvailable('python3 is older than 3.11, which the Python SDK needs');
}

async function versionIn(python: string, home: string): Promise<string | undefined> {
  const { code, stdout } = await command(python, ['-c', "import importlib.metadata as m, tinker; print(m.version('tinker'))"], {
    env: { HOME: home },
  });
  return code === 0 ? stdout.trim() : undefined;
}

async function must(running: Promise<CommandResult>, what: string): Promise<void> {
  const { code, output } = await running;
  if (code !== 0) throw new NotAvailable(`${what}: ${lastLine(output)}`);
}

/** The variables of the user that the SDK would read; `undefined` removes them. */
function withoutTinkerVariables(): Record<string, undefined> {
  return Object.fromEntries(Object.keys(process.env).flatMap((name) => (/^(TINKER_|HF_|PYTHON)/.test(name) ? [[name, undefined]] : [])));
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
