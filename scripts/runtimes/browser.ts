import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { command } from '../gates/command.js';
import { hasPackedBrowser, TOOLBOX } from './toolbox.js';

/** A Chromium that starts. */
export interface Browser {
  /** `Chromium 153.0.8010.0`. */
  readonly name: string;
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge'];
const MAC = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

/**
 * The browser that `CHROME_PATH` names, else one of the PATH, else the one of the toolbox; undefined when none of them starts. A `CHROME_PATH` that does not
 * start is an error, because the user asked for it.
 */
export async function findBrowser(): Promise<Browser | undefined> {
  const named = process.env['CHROME_PATH'];
  if (named !== undefined && named !== '') {
    const browser = await started(named);
    if (browser === undefined) throw new Error(`CHROME_PATH is ${named}, which does not start`);
    return browser;
  }
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const candidates = [...NAMES.flatMap((name) => folders.map((folder) => join(folder, name))), MAC].filter(isExecutable);
  for (const candidate of candidates) {
    const browser = await started(candidate);
    if (browser !== undefined) return browser;
  }
  return packedBrowser();
}

async function packedBrowser(): Promise<Browser | undefined> {
  if (!hasPackedBrowser()) return undefined;
  // The package unpacks itself into the temporary directory, under names without a version.
  const directory = join(TOOLBOX, 'browser');
  const program = join(directory, 'chromium');
  if (!existsSync(program)) {
    mkdirSync(directory, { recursive: true });
    const unpack = `
import chromium, { inflate } from '@sparticuz/chromium';
await inflate('node_modules/@sparticuz/chromium/bin/al2023.tar.br');
await chromium.executablePath();`;
    const { code } = await command(process.execPath, ['--input-type=module', '--eval', unpack], {
      cwd: TOOLBOX,
      env: { TMPDIR: directory },
    });
    if (code !== 0) return undefined;
  }
  // A small machine lacks the libraries of which the package brings its own copies; where the system has them, they fit better.
  return (await started(program)) ?? (await started(program, { LD_LIBRARY_PATH: join(directory, 'al2023', 'lib') }));
}

async function started(program: string, env: Readonly<Record<string, string>> = {}): Promise<Browser | undefined> {
  try {
    const { code, stdout } = await command(program, ['--version'], { env, timeoutMs: 20_000 });
    return code === 0 ? { name: stdout.trim() || program, program, env } : undefined;
  } catch {
    // It could not be started at all.
    return undefined;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
