import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { startDownload } from './download-rig.js';
import { isFull, tinkexFailure } from './rig.js';
import { tar } from './tar-bytes.js';

const LIMIT = { timeout: isFull ? 900_000 : 120_000 };
const KIB = 1024;
/** Fills the disk while it arrives. */
const large = tar([{ name: 'adapter_model.safetensors', content: randomBytes(600 * KIB) }]);
/** Fills the disk while it is unpacked. */
const packed = gzipSync(tar([{ name: 'adapter_model.safetensors', content: new Uint8Array(600 * KIB) }]));
/** Needs more files than the disk has room for. */
const many = gzipSync(tar(Array.from({ length: 60 }, (_, index) => ({ name: `file-${index}`, content: 'x' }))));

/** A small disk in memory, where this process may mount one (root on Linux). */
class SmallDisk implements Disposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static mount(options: string): SmallDisk | undefined {
    const path = mkdtempSync(join(tmpdir(), 'hostile-disk-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path], { stdio: 'ignore' });
      return new SmallDisk(path);
    } catch {
      // Not root, not Linux, or a container that may not mount: the simulated disk below has to do.
      rmSync(path, { recursive: true });
      return undefined;
    }
  }

  remount(options: string): void {
    execFileSync('mount', ['-o', `remount,${options}`, this.path]);
  }

  [Symbol.dispose](): void {
    execFileSync('umount', [this.path]);
    rmSync(this.path, { recursive: true });
  }
}

const probe = SmallDisk.mount('size=64k');
const canMount = probe !== undefined;
probe?.[Symbol.dispose]();

/** Makes every write to a file, or every opening of one for writing, fail with this code. */
function breakDisk(code: string, where: 'write' | 'open'): () => void {
  const fs = process.getBuiltinModule('node:fs/promises');
  const open = fs.open.bind(fs);
  const fault = (): never => {
    throw Object.assign(new Error(`${code}: simulated, ${where}`), { code, errno: -28, syscall: where });
  };
  const spy = vi.spyOn(fs, 'open').mockImplementation(async (path, flags, mode) => {
    const isWriting = flags !== undefined && flags !== 'r';
    if (isWriting && where === 'open') fault();
    const file: FileHandle = await open(path, flags, mode);
    if (isWriting) vi.spyOn(file, 'write').mockImplementation(async () => fault());
    return file;
  });
  return () => spy.mockRestore();
}

describe(`a disk that ${canMount ? 'is small (tmpfs)' : 'cannot be mounted here: simulated only'}`, LIMIT, () => {
  it.runIf(canMount).each([
    ['full while receiving', 'size=256k', large],
    ['full while unpacking', 'size=256k', packed],
    ['out of names', 'size=1m,nr_inodes=20', many],
  ])('is %s: an error that says so, and nothing is left; with room again the download succeeds', async (_name, options, body) => {
    using disk = SmallDisk.mount(options) as SmallDisk;
    await using rig = await startDownload((_request, wire) => wire.send({ body }), disk.path);
    const error = await tinkexFailure(rig.download());
    expect(error).toMatchObject({ code: 'TINKEX_DISK', message: expect.stringContaining('disk is full') });
    expect(await rig.found()).toEqual([]);
    disk.remount('size=8m,nr_inodes=1000');
    await rig.download();
    expect(await rig.found()).toContain('parent/checkpoint/');
  });

  it.runIf(canMount)('is read-only: an error that says so', async () => {
    using disk = SmallDisk.mount('size=1m') as SmallDisk;
    await using rig = await startDownload((_request, wire) => wire.send({ body: packed }), disk.path);
    disk.remount('ro');
    const error = await tinkexFailure(rig.download());
    disk.remount('rw');
    expect(error.message).toContain('read-only');
    expect(await rig.found()).toEqual([]);
  });

  it.each([
    ['ENOSPC', 'write', 'full'],
    ['EDQUOT', 'write', 'quota'],
    ['EIO', 'write', 'failed'],
    ['EROFS', 'open', 'read-only'],
    ['EACCES', 'open', 'may not write'],
    ['EMFILE', 'open', 'open files'],
  ] as const)('simulates %s on %s: an error with a cure, and nothing is left', async (code, where, cure) => {
    await using rig = await startDownload((_request, wire) => wire.send({ body: large }));
    const repair = breakDisk(code, where);
    const error = await tinkexFailure(rig.download()).finally(repair);
    expect(error).toMatchObject({ code: 'TINKEX_DISK', message: expect.stringContaining(cure) });
    expect(await rig.found()).toEqual([]);
    await rig.download();
    expect(await rig.found()).toContain('parent/checkpoint/adapter_model.safetensors');
  });

  it('takes downloads into one directory at the same time: one result, whole', async () => {
    await using rig = await startDownload((_request, wire) => wire.send({ body: packed }));
    const all = await Promise.allSettled([1, 2, 3].map(() => rig.download({ overwrite: true })));
    for (const one of all) if (one.status === 'rejected') await tinkexFailure(Promise.reject(one.reason));
    expect(all.some(({ status }) => status === 'fulfilled')).toBe(true);
    expect(await rig.found()).toEqual(['parent/checkpoint/', 'parent/checkpoint/adapter_model.safetensors']);
  });
});
