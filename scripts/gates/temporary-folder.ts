import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Makes a folder that is gone when this process ends, however it ends: a `finally` is not reached after Ctrl-C or a time limit. */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `tinkex-${name}-`));
  folders.push(folder);
  return folder;
}
