import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packTar } from 'modern-tar';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { turns } from './support/drive.js';
import { type MiniServer, miniServer } from './support/mini-server.js';
import { never, type ScriptedAnswer } from './support/scripted-transport.js';

const path = 'tinker://run/weights/final';
const archive = 'training_runs/run/checkpoints/weights/final/archive';

let root: string;
let mini: MiniServer;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tinkex-download-'));
  mini = miniServer();
  mini.routes.set(archive, () => ({ body: { url: 'http://files.test/file?signature=secret', expires: '2100-01-01T00:00:00Z' } }));
});

afterEach(async () => {
  await mini.service.close();
  await rm(root, { recursive: true, force: true });
});

/** Starts a download through a transport that is not the client's to close. */
function download(answer: () => ScriptedAnswer | Promise<ScriptedAnswer>, options: { timeoutMs?: number } = {}) {
  mini.routes.set('/file', answer);
  return mini.service
    .createRestClient()
    .downloadCheckpoint(path, { directory: join(root, 'final'), headers: { 'x-mine': 'yes' }, ...options })
    .catch((error: unknown) => error);
}

describe('downloadCheckpoint', () => {
  it('ends with the client, also on a transport of the user', async () => {
    const outcome = download(never);
    while (mini.transport.of('/file').length === 0) await turns(1);
    await mini.service.close();
    expect(await outcome).toMatchObject({ name: 'AbortError', message: 'The client was closed.' });
    expect(await readdir(root)).toEqual([]);
  });

  it('ends at its time limit', async () => {
    const outcome = download(never, { timeoutMs: 1_000 });
    while (mini.transport.of('/file').length === 0) await turns(1);
    await mini.clock.advance(1_000);
    expect(await outcome).toMatchObject({ code: 'TINKEX_TIMEOUT', phase: 'total' });
    expect(await readdir(root)).toEqual([]);
  });

  it('sends headers of the call to the service, and none to the signed address', async () => {
    const body = await packTar([{ header: { name: 'adapter.json', size: 2, type: 'file' }, body: '{}' }]);
    expect(await download(() => ({ body }))).toMatchObject({ fileCount: 1 });
    expect(mini.transport.of(archive)[0]?.headers['x-mine']).toBe('yes');
    expect(Object.keys(mini.transport.of('/file')[0]?.headers ?? {})).toEqual(['accept', 'accept-encoding']);
  });
});
