import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startFileStore } from './file-store.js';
import { MAIN, plainEnvironment, runCommand, temporaryFolder } from './run-command.js';
import { runHere } from './run-here.js';
import { SECRET_KEY, type SeededServer, startSeededServer } from './seeded-server.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let seeded: SeededServer;

beforeAll(async () => {
  folder = await temporaryFolder();
  seeded = await startSeededServer(folder.path);
});

afterAll(async () => {
  await seeded[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

it.each([
  [401, 'Authentication failed', 'tinkex auth login'],
  [402, 'Billing issue', 'balance'],
  [429, 'Rate limit exceeded', 'Wait'],
  [500, 'Internal server error', 'later'],
] as const)('explains a %i with a cure and without a stack', async (status, message, cure) => {
  seeded.server
    .on('getTrainingRun')
    .reply(status, { detail: `no: ${SECRET_KEY}` })
    .times(1);
  const { code, stdout, stderr } = await runHere(['run', 'info', seeded.runId, '--max-retries', '0'], { env: seeded.env });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(`Error: ${message}`);
  expect(stderr).toContain(cure);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(stderr).not.toContain(SECRET_KEY);
});

it('gives programs the reason as one line of JSON, and shows the stack with --debug', async () => {
  const result = await runHere(['run', 'info', 'nothing:train:0', '--json', '--debug'], { env: seeded.env });
  const [line = '', ...rest] = result.stderr.split('\n');
  expect(JSON.parse(line)).toMatchObject({ error: { status: 404, message: 'Resource not found' } });
  expect(rest.join('\n')).toMatch(/^\s+at /m);
});

it('says that a server is down, and how to find out why', async () => {
  const env = { ...seeded.env, TINKER_BASE_URL: 'http://127.0.0.1:9' };
  const { code, stderr } = await runHere(['run', 'list', '--max-retries', '0'], { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/Error: Connection failed[\s\S]*TINKER_BASE_URL/);
});

it.each([
  [['run', 'lits'], /Did you mean list\?/],
  [['run', 'list', '--limt', '3'], /Did you mean --limit\?/],
  [['run', 'list', '-c', 'modle'], /Did you mean model\?/],
  [['run'], /Usage: tinkex run/],
  [['checkpoint', 'set-ttl', 'tinker://a:train:0/weights/b'], /exactly one of --ttl/],
  [['checkpoint', 'delete'], /Name checkpoints/],
  [['checkpoint', 'delete', 'weights/x'], /tinker:\/\//],
  [['checkpoint', 'download', 'tinker://a:train:0/sampler_weights/b'], /sampler weights stay/],
] as const)('ends with 2 for wrong usage: %j', async (args, message) => {
  const { code, stderr } = await runHere(args, { env: seeded.env });
  expect(stderr).toMatch(message);
  expect(code).toBe(2);
});

it.each([[[]], [['checkpoint']], [['checkpoint', 'delete']]])('has help with examples at each level: %j', async (args) => {
  const { code, stdout } = await runHere([...args, '--help']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/Examples:|shows examples/);
});

it('survives a reset in the middle of a download, and leaves nothing behind when it cannot', async () => {
  const content = new Uint8Array(1 << 20).fill(7);
  await using store = await startFileStore(content);
  const signed = { urls: { 'adapter_model.safetensors': store.url }, expires: new Date('2100-01-01T00:00:00Z') };
  seeded.server.on('externalWeightsUrls').reply(200, signed).times(1);
  store.plan.push('half');
  const download = (output: string) =>
    runHere(['checkpoint', 'download', seeded.external, '-o', output], { env: seeded.env, cwd: folder.path });
  const survived = await download('a');
  expect(survived, survived.stderr).toMatchObject({ code: 0 });
  const [first, second] = store.starts;
  expect({ first, isContinued: second! > 0, requests: store.starts.length }).toEqual({ first: 0, isContinued: true, requests: 2 });
  seeded.server
    .on('externalWeightsUrls')
    .reply(200, { ...signed, urls: { '../outside': store.url } })
    .times(1);
  const failed = await download('b');
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('outside') });
  expect(await readdir(folder.path)).toEqual(['a']);
});

it('continues a download whose process was killed in the middle', async () => {
  await using place = await temporaryFolder();
  const content = Buffer.alloc(1 << 20, 7);
  await using store = await startFileStore(content);
  const signed = { urls: { 'adapter_model.safetensors': store.url }, expires: new Date('2100-01-01T00:00:00Z') };
  seeded.server.on('externalWeightsUrls').reply(200, signed).times(2);
  store.plan.push('stuck');
  const args = ['checkpoint', 'download', seeded.external, '-o', place.path];
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...plainEnvironment(), ...seeded.env }, stdio: 'ignore' });
  await store.stuck;
  await vi.waitFor(async () => expect(await bytesIn(place.path)).toBeGreaterThan(100_000), { timeout: 60_000 });
  child.kill('SIGKILL');
  await once(child, 'close');
  const { code, stderr } = await runCommand(args, { env: seeded.env });
  expect(code, stderr).toBe(0);
  expect(store.starts[0]).toBe(0);
  expect(store.starts.at(-1)).toBeGreaterThan(0);
  const [folderName = ''] = await readdir(place.path);
  expect(await readdir(place.path)).toHaveLength(1);
  expect(content.equals(await readFile(join(place.path, folderName, 'adapter_model.safetensors')))).toBe(true);
});

/** The bytes of all files below a folder. */
async function bytesIn(folder: string): Promise<number> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

it.skipIf(process.platform !== 'linux')('says that the disk is full, and what to do', async () => {
  const full = await runHere(['run', 'list', '--csv', '/dev/full'], { env: seeded.env });
  expect(full).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/The disk is full[\s\S]*Free some space/) });
});

it('ends quietly when the reader of a pipe leaves', async () => {
  const child = spawn('sh', ['-c', `"$0" "$1" checkpoint list --json | head -1; echo "$?"`, process.execPath, MAIN], {
    env: { ...plainEnvironment(), ...seeded.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, error] = ['', ''];
  child.stdout.on('data', (text) => {
    out += String(text);
  });
  child.stderr.on('data', (text) => {
    error += String(text);
  });
  await once(child, 'close');
  expect({ out, error }).toEqual({ out: '{\n0\n', error: '' });
});

it('ends with 130 at Ctrl-C', async () => {
  const gate = seeded.server.gate('getTrainingRun');
  const child = spawn(process.execPath, [MAIN, 'run', 'info', seeded.runId], {
    env: { ...plainEnvironment(), ...seeded.env },
    stdio: 'ignore',
  });
  await gate.waitFor(1);
  child.kill('SIGINT');
  const [code] = (await once(child, 'close')) as [number];
  gate.open();
  expect(code).toBe(130);
});
