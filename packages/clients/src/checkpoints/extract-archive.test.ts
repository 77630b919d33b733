import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ValidationError } from '@tinkex/types';
import { packTar, type TarEntry } from 'modern-tar';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { entryPathSegments } from './entry-path.js';
import { type ExtractOptions, extractArchive } from './extract-archive.js';

const limits: ExtractOptions = { maxBytes: 1_000_000, maxEntries: 100 };
let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tinkex-extract-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function extract(bytes: Uint8Array, options: ExtractOptions = limits) {
  const archive = join(root, 'archive.tar');
  await writeFile(archive, bytes);
  const directory = await mkdtemp(join(root, 'files-'));
  const result = await extractArchive(archive, directory, options);
  return { directory, result };
}

const file = (name: string, text: string, more: Partial<TarEntry['header']> = {}): TarEntry => ({
  header: { name, size: Buffer.byteLength(text), type: 'file', ...more },
  body: text,
});

describe('extractArchive', () => {
  it('does not blame the archive for what the disk says', async () => {
    await expect(extractArchive(join(root, 'missing.tar'), root, limits)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('writes files and directories with ordinary modes', async () => {
    const bytes = await packTar([
      { header: { name: './', size: 0, type: 'directory' } },
      { header: { name: 'adapter/', size: 0, type: 'directory', mode: 0o777 } },
      file('adapter/config.json', '{"r":8}', { mode: 0o4777 }),
      file('checkpoint_complete', ''),
    ]);
    const { directory, result } = await extract(bytes);
    expect(result).toEqual({ fileCount: 2, totalBytes: 7 });
    expect((await readdir(directory)).sort()).toEqual(['adapter', 'checkpoint_complete']);
    expect(await readFile(join(directory, 'adapter', 'config.json'), 'utf8')).toBe('{"r":8}');
    const { mode } = await stat(join(directory, 'adapter', 'config.json'));
    expect(mode & 0o7111).toBe(0);
  });

  it('takes the folder itself for what it is, also under the name "/", and no other absolute one', async () => {
    const self: TarEntry = { header: { name: '/', size: 0, type: 'directory' } };
    const { directory } = await extract(await packTar([self, file('adapter_config.json', '{}')]));
    expect(await readdir(directory)).toEqual(['adapter_config.json']);
    await expect(extract(await packTar([{ header: { name: '/etc/', size: 0, type: 'directory' } }]))).rejects.toThrow('is absolute');
  });

  it('reads gzipped archives and files larger than a read block', async () => {
    const text = 'tensor '.repeat(100_000);
    const { directory } = await extract(gzipSync(await packTar([file('weights.bin', text)])));
    expect(await readFile(join(directory, 'weights.bin'), 'utf8')).toBe(text);
  });

  it.each([
    ['a parent directory', file('../evil', 'x')],
    ['a hidden parent directory', file('a/b/../../../evil', 'x')],
    ['an absolute path', file('/etc/evil', 'x')],
    ['a drive letter', file('C:/evil', 'x')],
    ['a backslash', file('a\\..\\evil', 'x')],
    ['a symbolic link', { header: { name: 'link', size: 0, type: 'symlink', linkname: '/etc/passwd' } } as TarEntry],
    ['a hard link', { header: { name: 'link', size: 0, type: 'link', linkname: '../outside' } } as TarEntry],
    ['a pipe', { header: { name: 'pipe', size: 0, type: 'fifo' } } as TarEntry],
    ['a device', { header: { name: 'dev', size: 0, type: 'character-device' } } as TarEntry],
  ])('refuses %s', async (_, entry) => {
    const bytes = await packTar([file('ok.txt', 'fine'), entry]);
    await expect(extract(bytes)).rejects.toBeInstanceOf(ValidationError);
    // Nothing may appear beside the directory that was extracted into.
    expect((await readdir(root)).filter((name) => name !== 'archive.tar' && !name.startsWith('files-'))).toEqual([]);
  });

  it('refuses a file that is named twice, and a file in place of a directory', async () => {
    await expect(extract(await packTar([file('a', '1'), file('a', '2')]))).rejects.toBeInstanceOf(ValidationError);
    await expect(extract(await packTar([file('a', '1'), file('a/b', '2')]))).rejects.toBeInstanceOf(ValidationError);
  });

  it('refuses more entries than allowed', async () => {
    const bytes = await packTar(Array.from({ length: 101 }, (_, index) => file(`f${index}`, '')));
    await expect(extract(bytes)).rejects.toThrow('more than 100 entries');
  });

  it('refuses a file over the size limit before it writes it', async () => {
    const bytes = await packTar([file('big', 'x'.repeat(2_000))]);
    await expect(extract(bytes, { ...limits, maxBytes: 1_999 })).rejects.toThrow('larger than 1999 bytes');
    await expect(extract(bytes, { ...limits, maxBytes: 2_000 })).resolves.toBeDefined();
  });

  it('refuses a gzip bomb: much of nothing after the last entry', async () => {
    const tar = Buffer.concat([await packTar([file('a', 'x')]), Buffer.alloc(4_000_000)]);
    await expect(extract(gzipSync(tar), { maxBytes: 1_000, maxEntries: 10 })).rejects.toThrow('unpacks to more than');
  });

  it.each([1, 511, 600, 1_100])('refuses an archive that was cut after %i bytes', async (length) => {
    const bytes = await packTar([file('a', 'x'.repeat(1_000))]);
    await expect(extract(bytes.subarray(0, length))).rejects.toBeInstanceOf(ValidationError);
  });

  it('refuses bytes that are not an archive, and a broken gzip', async () => {
    await expect(extract(Buffer.from('<html>not found</html>'.repeat(100)))).rejects.toBeInstanceOf(ValidationError);
    const gzip = gzipSync(await packTar([file('a', 'x')]));
    await expect(extract(gzip.subarray(0, gzip.length - 20))).rejects.toBeInstanceOf(ValidationError);
  });

  it('stops when it is aborted', async () => {
    const bytes = await packTar([file('a', 'x')]);
    await expect(extract(bytes, { ...limits, signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('entryPathSegments', () => {
  it('drops dots and empty segments', () => {
    expect(entryPathSegments('./a//b/./c')).toEqual(['a', 'b', 'c']);
    expect(entryPathSegments('./')).toEqual([]);
  });

  it.each(['..', 'a/..', '../files-evil/x', '/x', 'x\u0000y', 'a/'.repeat(40), 'n'.repeat(300)])('refuses %j', (name) => {
    expect(() => entryPathSegments(name)).toThrow(ValidationError);
  });

  it.each(['S', 'Z', 'D', 'M'])('refuses an entry of the type %s, which a decoder would take for a file', async (type) => {
    const bytes = await packTar([file('plain.bin', 'x'.repeat(700)), file('odd.bin', 'content')]);
    // The second header follows one header and two blocks of content.
    const header = bytes.subarray(3 * 512, 4 * 512);
    header[156] = type.charCodeAt(0);
    header.fill(32, 148, 156);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.set(Buffer.from(`${sum.toString(8).padStart(6, '0')}\0 `), 148);
    await expect(extract(bytes)).rejects.toThrow(`type "${type}"`);
  });

  it('refuses a sparse file in the form of pax, however the archive is cut into blocks', async () => {
    const bytes = await packTar([
      file('GNUSparseFile.1/sp.bin', 'map and data', { pax: { 'GNU.sparse.major': '1', 'GNU.sparse.name': 'sp.bin' } }),
    ]);
    await expect(extract(bytes)).rejects.toThrow('a sparse file');
    await expect(extract(gzipSync(bytes))).rejects.toThrow('a sparse file');
  });

  it('follows sizes that only an extended header gives', async () => {
    const bytes = await packTar([file('a'.repeat(180), 'long name', { pax: { size: '9' } }), file('b', 'next')]);
    expect((await extract(bytes)).result).toEqual({ fileCount: 2, totalBytes: 13 });
  });
});
