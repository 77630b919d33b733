import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { HttpClient } from '@tinkex/http';

/** The part of `@tinkex/http` that is measured. */
export interface HttpModule {
  readonly HttpClient: typeof HttpClient;
}

/**
 * A copy of the built `@tinkex/http` that never publishes an attempt: the client as it would be without telemetry. There is no option for that,
 * and there should be none.
 */
export async function loadBareHttp(): Promise<HttpModule> {
  const built = dirname(fileURLToPath(import.meta.resolve('@tinkex/http')));
  // Not in the system's temporary folder, where the copy would not find its dependencies.
  const copy = fileURLToPath(new URL(`../temp/bare-http-${process.pid}/dist`, import.meta.url));
  cpSync(built, copy, { recursive: true });
  cpSync(join(built, '../package.json'), join(copy, '../package.json'));
  const file = join(copy, 'index.js');
  const check = 'function areAttemptsObserved(';
  const [before, after, ...more] = readFileSync(file, 'utf8').split(check);
  if (after === undefined || more.length > 0) throw new Error(`${file} does not contain exactly one ${check}.`);
  writeFileSync(file, `${before}${check}) { return false; }\nfunction replacedCheck(${after}`);
  const loaded = (await import(pathToFileURL(file).href)) as HttpModule;
  rmSync(dirname(copy), { recursive: true, force: true });
  return loaded;
}
