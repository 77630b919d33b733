/**
 * Prints the program of a browser that starts: the system's own, else one from npm. `.ci/run` asks for it before the tests, which look at pages with the browser that
 * `CHROME_PATH` names. Where none is available it prints an empty line, says why on the standard error, and those tests are skipped.
 */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, findBrowser } from './browser.js';
import { fillToolbox, TOOLBOX } from './toolbox.js';

/** A program that starts the browser without further settings. */
function plainProgram({ program, env }: Browser): string {
  const settings = Object.entries(env);
  if (settings.length === 0) return program;
  const file = join(TOOLBOX, 'browser', 'start');
  const exports = settings.map(([name, value]) => `export ${name}='${value}'\n`).join('');
  writeFileSync(file, `#!/bin/sh\n${exports}exec '${program}' "$@"\n`);
  chmodSync(file, 0o755);
  return file;
}

async function browserFromNpm(): Promise<Browser | undefined> {
  await fillToolbox();
  return findBrowser();
}

try {
  const browser = (await findBrowser()) ?? (await browserFromNpm());
  if (browser === undefined) throw new Error('no browser starts here; CHROME_PATH names one');
  console.error(`Pages are tested in ${browser.name}.`);
  console.log(plainProgram(browser));
} catch (error) {
  console.error(`Pages are not tested: ${error instanceof Error ? error.message : String(error)}`);
  console.log('');
}
