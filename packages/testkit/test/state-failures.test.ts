import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startServer } from '../src/index.js';
import { Journal } from '../src/persistence/journal.js';
import { RawClient } from './raw-client.js';

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'testkit-disk-'));
  vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
});

afterEach(async () => {
  vi.restoreAllMocks();
  await rm(dir, { recursive: true, force: true });
});

it('refuses changes while the disk is full, says so, and continues when there is room', async () => {
  const server = await startServer({ dialect: 'json', stateDir: dir });
  const client = new RawClient(server);
  const body = { tags: [], user_metadata: {}, sdk_version: '0.25.0' };
  const disk = vi.spyOn(Journal.prototype, 'append').mockImplementation(() => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  });
  const refused = await client.post('create_session', body);
  expect(refused.status).toBe(503);
  expect(refused.text).toContain('ENOSPC');
  expect(process.emitWarning).toHaveBeenCalledWith(expect.stringContaining('ENOSPC'), 'TestkitStateWarning');
  expect(() => server.verify()).toThrow(/cannot be written/);
  disk.mockRestore();
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

it('a journal that was not confirmed by the disk takes nothing more', async () => {
  const journal = new Journal(join(dir, 'journal-1'));
  journal.append(Buffer.from('one'));
  await journal.sync();
  expect(journal.isSynced).toBe(true);
  journal.append(Buffer.from('two'));
  expect(journal.isSynced).toBe(false);
  journal.close();
  await expect(journal.sync()).rejects.toThrow(/restart the server/);
  expect(() => journal.append(Buffer.from('three'))).toThrow(/restart the server/);
});
