import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, type Transport, type TransportRequest } from '@tinkex/http';
import { AbortedError } from '@tinkex/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DownloadCheckpointOptions, downloadCheckpoint } from './download-checkpoint.js';

const CHECKPOINT = 'tinker://run:train:0/external_weights/final';
const SIZE = 10_000;

let root: string;
let target: string;
let staging: string;
/** The files on the server, by name; the entity tag follows from the first byte. */
let files: Map<string, Buffer>;
let requests: { readonly name: string; readonly range: string | undefined }[];
/** Files whose body stops in the middle, and never continues. */
let stuck: Set<string>;
let onStuck: () => void;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tinkex-interrupted-'));
  target = join(root, 'final');
  staging = join(root, '.final.partial');
  files = new Map([
    ['a.bin', Buffer.alloc(SIZE, 'a')],
    ['b.bin', Buffer.alloc(SIZE, 'b')],
  ]);
  requests = [];
  stuck = new Set();
  onStuck = () => undefined;
});

afterEach(() => rm(root, { recursive: true, force: true }));

const send = async ({ url, headers, signal }: TransportRequest) => {
  const name = new URL(url).pathname.slice(1);
  const content = files.get(name) as Buffer;
  const etag = `"${content.subarray(0, 1).toString()}"`;
  const asked = headers['if-range'] === undefined || headers['if-range'] === etag ? headers['range'] : undefined;
  requests.push({ name, range: headers['range'] });
  const start = Number(/^bytes=(\d+)-$/.exec(asked ?? '')?.[1] ?? 0);
  async function* body(): AsyncGenerator<Buffer, void, undefined> {
    if (!stuck.has(name)) return yield content.subarray(start);
    yield content.subarray(start, SIZE / 2);
    await new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(new AbortedError({ cause: signal.reason })));
      onStuck();
    });
  }
  const range = start > 0 ? { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` } : {};
  return {
    status: start > 0 ? 206 : 200,
    headers: { etag, 'content-length': String(content.length - start), ...range },
    body: { bytes: async () => content.subarray(start), cancel: () => undefined, [Symbol.asyncIterator]: () => body() },
  };
};
const transport: Transport = { send, close: async () => undefined };

function download(options: DownloadCheckpointOptions = {}, checkpoint = CHECKPOINT) {
  const urls = Object.fromEntries([...files.keys()].map((name) => [name, `http://files.test/${name}`]));
  const signed = { urls, expires: new Date(8.64e15) };
  const openContent = async () => ({ isArchive: false, signed, sign: async () => signed, close: async () => undefined });
  const context = { transport, clock: systemClock, source: () => ({ clientId: 'c', baseUrl: 'b' }), openContent };
  return downloadCheckpoint(context, checkpoint, { directory: target, stallTimeoutMs: 3_600_000, ...options });
}

/** Starts a download and stops it in the middle of a file. */
async function untilStuckIn(name: string): Promise<{ readonly abort: () => Promise<void> }> {
  stuck.add(name);
  const controller = new AbortController();
  const isStuck = new Promise<void>((resolve) => {
    onStuck = resolve;
  });
  const outcome = download({ signal: controller.signal }).catch(() => undefined);
  await isStuck;
  return {
    abort: async () => {
      controller.abort();
      await outcome;
      stuck.delete(name);
    },
  };
}

/** Leaves on disk what a process leaves that is killed in the middle of a file. */
async function killedIn(name: string): Promise<void> {
  const running = await untilStuckIn(name);
  await cp(staging, join(root, 'saved'), { recursive: true });
  await running.abort();
  await rename(join(root, 'saved'), staging);
  requests = [];
}

const contentOf = async () =>
  Object.fromEntries(
    await Promise.all((await readdir(target)).map(async (name) => [name, (await readFile(join(target, name))).toString()])),
  );
const expected = () => Object.fromEntries([...files].map(([name, bytes]) => [name, bytes.toString()]));

describe('a download that a killed process has left', () => {
  it('is continued: complete files by one byte, the others where they stopped', async () => {
    await killedIn('b.bin');
    const result = await download();
    expect(requests).toEqual([
      { name: 'a.bin', range: `bytes=${SIZE - 1}-` },
      { name: 'b.bin', range: `bytes=${SIZE / 2}-` },
    ]);
    expect(result).toMatchObject({ fileCount: 2, totalBytes: 2 * SIZE, resumedBytes: 1.5 * SIZE });
    expect(await contentOf()).toEqual(expected());
    expect(await readdir(root)).toEqual(['final']);
  });

  it('is continued after any number of kills', async () => {
    await killedIn('a.bin');
    await killedIn('b.bin');
    await killedIn('b.bin');
    await download();
    expect(await contentOf()).toEqual(expected());
    expect(await readdir(root)).toEqual(['final']);
  });

  it('gives the new content of files that have changed since', async () => {
    await killedIn('b.bin');
    files.set('a.bin', Buffer.alloc(SIZE, 'A'));
    files.set('b.bin', Buffer.alloc(10, 'B'));
    expect(await download()).toMatchObject({ resumedBytes: 0 });
    expect(await contentOf()).toEqual(expected());
  });

  it('publishes no file that is not in the current list', async () => {
    await killedIn('b.bin');
    files = new Map([
      ['a.bin/inside', Buffer.alloc(5, 'x')],
      ['c.bin', Buffer.alloc(5, 'c')],
    ]);
    await download();
    expect((await readdir(target, { recursive: true })).sort()).toEqual(['a.bin', 'a.bin/inside', 'c.bin']);
  });

  it('is not used for another checkpoint', async () => {
    await killedIn('b.bin');
    expect(await download({}, 'tinker://other:train:0/external_weights/final')).toMatchObject({ resumedBytes: 0 });
    expect(requests.map(({ range }) => range)).toEqual([undefined, undefined]);
  });

  it('is not used when its journal is from before a restart of the machine, or damaged', async () => {
    await killedIn('b.bin');
    await writeFile(join(staging, 'journal.jsonl'), '{"format":1}\n{"name":"b.bin","val');
    expect(await download()).toMatchObject({ resumedBytes: 0 });
    expect(await contentOf()).toEqual(expected());
  });

  it('gives the old target back that it was about to replace', async () => {
    await killedIn('b.bin');
    await mkdir(join(staging, 'replaced'));
    await writeFile(join(staging, 'replaced', 'precious'), 'old');
    await expect(download()).rejects.toThrow(/exists already/);
    expect(await contentOf()).toEqual({ precious: 'old' });
  });

  it('is removed with everything else that killed processes left', async () => {
    await mkdir(join(root, '.final.partial-trash-1', 'received'), { recursive: true });
    await mkdir(join(root, '.final.partial-x'));
    await download();
    expect(await readdir(root)).toEqual(['final']);
  });
});

describe('a download in progress', () => {
  it('is refused to everybody else, with what to do', async () => {
    const running = await untilStuckIn('b.bin');
    await expect(download()).rejects.toMatchObject({
      code: 'TINKEX_CONFIGURATION',
      message: expect.stringMatching(/in progress.*another directory/),
    });
    await expect(download({ overwrite: true })).rejects.toThrow(/in progress/);
    await running.abort();
    expect(await readdir(root)).toEqual([]);
    await download();
  });

  it('belongs to a process, not to a process ID that a later process has too', async () => {
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    await once(other, 'spawn');
    const ownerFile = join(staging, 'owner.json');
    try {
      await killedIn('b.bin');
      const owner = { ...JSON.parse(await readFile(ownerFile, 'utf8')), processKey: 'another', processId: other.pid };
      await writeFile(ownerFile, JSON.stringify({ ...owner, processStart: undefined }));
      await expect(download()).rejects.toThrow(`process ${other.pid}`);
      await writeFile(ownerFile, JSON.stringify({ ...owner, processStart: 'long ago', processId: process.pid }));
      if (process.platform === 'linux') expect(await download()).toMatchObject({ resumedBytes: 1.5 * SIZE });
      await rm(target, { recursive: true, force: true });
      await killedIn('b.bin');
      await writeFile(ownerFile, JSON.stringify({ ...owner, processStart: undefined }));
    } finally {
      other.kill('SIGKILL');
      await once(other, 'exit');
    }
    expect(await download()).toMatchObject({ resumedBytes: 1.5 * SIZE });
  });

  it('is one of many at the same time, which all may replace the target', async () => {
    await download();
    for (let round = 0; round < 5; round += 1) {
      const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => download({ overwrite: true })));
      const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : []));
      expect(failures.length).toBeLessThan(6);
      for (const { message } of failures) expect(message).toMatch(/in progress/);
      expect(await contentOf()).toEqual(expected());
    }
    expect(await readdir(root)).toEqual(['final']);
  });

  it('continues what many find at the same time only once', async () => {
    await killedIn('b.bin');
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => download()));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await contentOf()).toEqual(expected());
  });
});

describe('what a download cannot do', () => {
  it('is a TinkexError with a cure, also when the disk says it', async () => {
    await writeFile(join(root, 'file'), '');
    const failure = await download({ directory: join(root, 'file', 'deep', 'inside') }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'TINKEX_DISK',
      isRetryable: false,
      message: expect.stringMatching(/ENOTDIR.*Choose another directory/),
    });
    expect((failure as Error).cause).toMatchObject({ syscall: 'mkdir' });
  });

  it('leaves no new parent directories behind', async () => {
    stuck.add('a.bin');
    const controller = new AbortController();
    onStuck = () => controller.abort();
    await expect(download({ directory: join(root, 'new', 'deep', 'final'), signal: controller.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(await readdir(root)).toEqual([]);
  });
});
