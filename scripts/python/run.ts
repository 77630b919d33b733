/** Gate: the Python package builds, installs into an empty environment, and passes its tests against the server of this repository. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from '../gates/command.js';
import { skip, verdict } from '../gates/verdict.js';
import { root } from '../packages.mjs';

const GATE = 'test:python';
const CACHE = join(root, 'node_modules', '.cache', 'tinkex-pytest');
const SOURCE = join(root, 'python');
const SERVE = 'node --conditions=@tinkex/source --import tsx packages/testkit/src/cli/main.ts serve --engine canned --no-log';
const INSTALL_TIMEOUT_MS = 300_000;

const python = await command('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).catch(() => undefined);
if (python?.code !== 0) skip(GATE, 'there is no Python 3.9 or newer');
else await run();

async function run(): Promise<void> {
  const wheels = join(CACHE, 'wheels');
  await rm(wheels, { recursive: true, force: true });
  await mkdir(wheels, { recursive: true });
  const venv = await command('python3', ['-m', 'venv', join(CACHE, 'venv')], { timeoutMs: 120_000 });
  if (venv.code !== 0) return skip(GATE, 'python3 -m venv failed');
  const program = join(CACHE, 'venv', 'bin', 'python');
  const tools = await command(program, ['-m', 'pip', 'install', '--quiet', 'setuptools>=68', 'wheel', 'pytest>=7'], {
    timeoutMs: INSTALL_TIMEOUT_MS,
  });
  if (tools.code !== 0) return skip(GATE, 'pip could not install pytest (is PyPI reachable?)');
  const problems: string[] = [];
  const wheel = await command(program, [
    '-m',
    'pip',
    'wheel',
    '--quiet',
    '--no-deps',
    '--no-build-isolation',
    '--wheel-dir',
    wheels,
    SOURCE,
  ]);
  await Promise.all(['build', 'src/tinkex_testkit.egg-info'].map((left) => rm(join(SOURCE, left), { recursive: true, force: true })));
  const [file] = wheel.code === 0 ? await readdir(wheels) : [];
  if (file === undefined) problems.push(`the package does not build:\n${wheel.output}`);
  else problems.push(...(await test(program, join(wheels, file))));
  verdict(GATE, 'one package, built, installed and tested', problems);
}

async function test(program: string, wheel: string): Promise<string[]> {
  const install = await command(program, ['-m', 'pip', 'install', '--quiet', '--force-reinstall', '--no-deps', wheel]);
  if (install.code !== 0) return [`the package does not install:\n${install.output}`];
  const tests = await command(program, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', join(SOURCE, 'tests')], {
    env: { TINKEX_TESTKIT_COMMAND: SERVE, TINKEX_TESTKIT_URL: undefined, TINKEX_TESTKIT_TOKEN: undefined, PYTHONDONTWRITEBYTECODE: '1' },
  });
  console.log(tests.output.trim());
  return tests.code === 0 ? [] : ['the tests of the Python package fail'];
}
