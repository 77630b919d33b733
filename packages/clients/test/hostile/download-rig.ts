import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DownloadCheckpointOptions, DownloadedCheckpoint } from '../../src/index.js';
import { HastyClock } from './hasty-clock.js';
import { type Attack, type Rig, startRig } from './rig.js';

/** A client that downloads from a hostile store into its own folder. */
export interface DownloadRig extends AsyncDisposable {
  readonly rig: Rig;
  /** Nothing may ever appear in it but the target and its parent. */
  readonly root: string;
  readonly target: string;
  download(options?: DownloadCheckpointOptions): Promise<DownloadedCheckpoint>;
  /** Everything below the root, and what it is. */
  found(): Promise<readonly string[]>;
}

/** @param store - Answers the requests for the archive itself. */
export async function startDownload(store: Attack, parent = tmpdir()): Promise<DownloadRig> {
  const root = await mkdtemp(join(parent, 'hostile-'));
  const target = join(root, 'parent', 'checkpoint');
  const rig = await startRig(
    (request, wire, honest) => {
      if (request.path.startsWith('/blob')) return store(request, wire, honest);
      return request.path.endsWith('/archive') && wire.send({ status: 302, headers: { location: `${rig.server.url}/blob?sig=1` } });
    },
    // Backoffs only: files and threads take real time, in which deadlines would pass.
    { clock: new HastyClock(() => 0, 9_000), maxRetries: 0 },
  );
  const rest = rig.service.createRestClient();
  return {
    rig,
    root,
    target,
    download: (options) =>
      rest.downloadCheckpoint('tinker://r/weights/1', { directory: target, maxBytes: 1_000_000, maxEntries: 100, ...options }),
    found: async () => (await list(root)).filter((path) => path !== 'parent/').sort(),
    [Symbol.asyncDispose]: async () => {
      await rig[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function list(root: string, below = ''): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir(join(root, below))) {
    const path = below === '' ? name : `${below}/${name}`;
    const stats = await lstat(join(root, path));
    if (stats.isDirectory()) found.push(`${path}/`, ...(await list(root, path)));
    else found.push(stats.isFile() ? path : `${path} (special)`);
  }
  return found;
}
