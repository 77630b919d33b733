import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startServer } from '../src/index.js';
import { RawClient } from './raw-client.js';

const disk = vi.hoisted(() => ({ isFull: false, isBroken: false }));

vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>();
  return {
    ...fs,
    writeSync: (...args: Parameters<typeof fs.writeSync>) => {
      if (disk.isFull) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      return fs.writeSync(...args);
    },
    fdatasync: (file: number, done: (error: Error | null) => void) => {
      if (disk.isBroken) done(Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' }));
      else fs.fdatasync(file, done);
    },
  };
});

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'testkit-disk-'));
  vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
});

afterEach(async () => {
  disk.isFull = false;
  disk.isBroken = false;
  vi.restoreAllMocks();
  await rm(dir, { recursive: true, force: true });
});

it('refuses changes while the disk is full, says so, and goes on when there is room', async () => {
  const server = await startServer({ dialect: 'json', stateDir: dir });
  const client = new RawClient(server);
  const body = { tags: [], user_metadata: {}, sdk_version: '0.25.0' };
  disk.isFull = true;
  const refused = await client.post('create_session', body);
  expect(refused.status).toBe(503);
  expect(refused.text).toContain('ENOSPC');
  expect(process.emitWarning).toHaveBeenCalledWith(expect.stringContaining('ENOSPC'), 'TestkitStateWarning');
  expect(() => server.verify()).toThrow(/cannot be written/);
  disk.isFull = false;
  expect((await client.post('create_session', body)).status).toBe(200);
  const { sessions } = (await client.get('sessions')).json;
  await client.close();
  await server.close();

  const restarted = await startServer({ dialect: 'json', stateDir: dir });
  const witness = new RawClient(restarted);
  expect((await witness.get('sessions')).json.sessions).toEqual(sessions);
  await witness.close();
  await restarted.close();
});

it('acknowledges nothing after the disk failed to confirm a write', async () => {
  const server = await startServer({ dialect: 'json', stateDir: dir, durability: 'strict' });
  const client = new RawClient(server);
  disk.isBroken = true;
  const body = { tags: [], user_metadata: {}, sdk_version: '0.25.0' };
  expect((await client.post('create_session', body)).status).toBe(503);
  disk.isBroken = false;
  expect((await client.post('create_session', body)).status).toBe(503);
  await client.close();
  await expect(server.close()).rejects.toThrow(/restart the server/);
});
