import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shapeOf, temporaryFolder } from './run-command.js';
import { runHere } from './run-here.js';
import { SECRET_KEY, type SeededServer, startSeededServer } from './seeded-server.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let seeded: SeededServer;

beforeAll(async () => {
  folder = await temporaryFolder();
  seeded = await startSeededServer(folder.path, { jwt: { email: 'a@example.com' } });
});

afterAll(async () => {
  await seeded[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** Runs a command that must succeed; no stream may show the key. */
async function succeed(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const result = await runHere(args, { env: seeded.env, cwd: folder.path });
  expect(result.stderr + result.stdout).not.toContain(SECRET_KEY);
  expect(result.code, result.stderr).toBe(0);
  return result;
}

describe('reading', () => {
  it('writes tables for pipes: aligned, whole, without color', async () => {
    const { stdout } = await succeed('run', 'list', '-c', 'id,model,lora,status,checkpoint');
    expect(stdout).toBe(
      'Run ID             Base Model   LoRA    Status  Last Checkpoint\n' + //
        'sess-0001:train:0  tinkex/tiny  Rank 8  OK      weights/state-1\n',
    );
  });

  it('writes CSV to stdout or to a file', async () => {
    const { stdout } = await succeed('checkpoint', 'list', '--csv');
    expect(stdout.split('\r\n')[0]).toBe('checkpoint_id,checkpoint_type,time,tinker_path,size_bytes,public,user_metadata,expires_at');
    const { stderr } = await succeed('model', 'list', '--csv', 'models.csv');
    expect(stderr).toContain('Wrote 1 row to models.csv.');
    expect(await readFile(join(folder.path, 'models.csv'), 'utf8')).toContain('tinkex/tiny,');
  });

  it('takes the global options before the command too, as the reference does', async () => {
    const { stdout } = await succeed('--format', 'json', 'run', 'list', '--limit', '1');
    expect(JSON.parse(stdout)).toHaveProperty('runs');
  });
});

describe('changing', () => {
  it('publishes, sets the expiry, copies, downloads and deletes', async () => {
    const info = async (): Promise<Record<string, unknown>> => {
      const { stdout } = await succeed('checkpoint', 'info', seeded.training, '--json');
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    expect(await succeed('checkpoint', 'publish', seeded.training)).toMatchObject({ stdout: '', stderr: '' });
    expect(await info()).toMatchObject({ public: true, expires_at: expect.any(String) });
    await succeed('checkpoint', 'unpublish', seeded.training);
    await succeed('checkpoint', 'set-ttl', seeded.training, '--remove');
    expect(await info()).toMatchObject({ public: false, expires_at: null });
    const copied = JSON.parse((await succeed('checkpoint', 'copy', seeded.sampler, '--project', 'p', '--json')).stdout) as {
      copy_path: string;
    };
    expect(copied.copy_path).toMatch(/^tinker:\/\/.+\/sampler_weights\/final$/);

    const downloaded = await succeed('checkpoint', 'download', seeded.external, '-o', 'weights', '--json');
    expect(shapeOf(JSON.parse(downloaded.stdout))).toMatchSnapshot();
    const target = join(folder.path, 'weights', `${seeded.runId}_external_weights_files`);
    expect(await readdir(target)).toContain('adapter_config.json');
    const again = await runHere(['checkpoint', 'download', seeded.external, '-o', 'weights'], { env: seeded.env, cwd: folder.path });
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('--force') });
    await succeed('checkpoint', 'download', seeded.training, '-o', 'weights');
    expect(await readdir(join(folder.path, 'weights'))).toHaveLength(2);

    const asked = await runHere(['checkpoint', 'delete', copied.copy_path], { env: seeded.env });
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    const deleted = await succeed('checkpoint', 'delete', copied.copy_path, 'tinker://nothing:train:0/weights/x', '--yes', '--json');
    expect(JSON.parse(deleted.stdout)).toMatchObject({ deleted_count: 1, failed: [{ tinker_path: 'tinker://nothing:train:0/weights/x' }] });
  });

  it('stores a key, shows it as the source, and removes it', async () => {
    const { TINKER_API_KEY: _, ...env } = seeded.env;
    const auth = (command: string, input = '') => runHere(['auth', command, '--json'], { env, input });
    const login = await auth('login', `${SECRET_KEY}\n`);
    expect(login, login.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(login.stdout)).toMatchObject({ email: expect.any(String), organization: expect.any(String) });
    expect(login.stdout + login.stderr).not.toContain(SECRET_KEY);
    expect(await auth('login', SECRET_KEY)).toMatchObject({ code: 1, stderr: expect.stringContaining('LOGGED_IN') });
    const status = await auth('status');
    expect(JSON.parse(status.stdout)).toMatchObject({ credentials_available: true, source: expect.stringContaining('stored key') });
    expect(await auth('logout')).toMatchObject({ code: 0, stdout: expect.stringContaining('"revoked": false') });
    expect(await auth('logout')).toMatchObject({ code: 1, stderr: expect.stringContaining('NOT_LOGGED_IN') });
    expect(await auth('status')).toMatchObject({ code: 1 });
  });
});
