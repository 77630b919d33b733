import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { startDownload } from './download-rig.js';
import { isFull, randomOf, SEED, tinkexFailure, valueOrTinkexError } from './rig.js';
import { pax, type TarEntry, tar } from './tar-bytes.js';

const LIMIT = { timeout: isFull ? 900_000 : 120_000 };
const good: TarEntry = { name: 'adapter_config.json', content: '{}' };

/** Archives that must be refused as a whole, with nothing left. */
const REFUSED: Readonly<Record<string, readonly TarEntry[]>> = {
  'a name that leaves': [good, { name: '../../escaped', content: 'x' }],
  'a name that leaves in the middle': [{ name: 'a/../../../escaped', content: 'x' }],
  'a prefix that leaves': [{ name: 'escaped', prefix: '../..', content: 'x' }],
  'an absolute name': [{ name: '/tmp/hostile-escaped', content: 'x' }],
  'a drive': [{ name: 'C:escaped', content: 'x' }],
  'a backslash': [{ name: '..\\escaped', content: 'x' }],
  'an extended name that leaves': [
    { name: 'pax', type: 'x', content: pax('path', '../../escaped') },
    { name: 'fine', content: 'x' },
  ],
  'a global name that leaves': [
    { name: 'pax', type: 'g', content: pax('path', '../../escaped') },
    { name: 'fine', content: 'x' },
  ],
  'a long name that leaves': [
    { name: '././@LongLink', type: 'L', content: '../../escaped\0' },
    { name: 'fine', content: 'x' },
  ],
  'a symbolic link': [good, { name: 'link', type: '2', link: '/etc' }],
  'a symbolic link, and a file below it': [
    { name: 'link', type: '2', link: '../..' },
    { name: 'link/escaped', content: 'x' },
  ],
  'a hard link': [good, { name: 'link', type: '1', link: '/etc/passwd' }],
  'a device': [{ name: 'device', type: '3' }],
  'a block device': [{ name: 'device', type: '4' }],
  'a pipe': [{ name: 'pipe', type: '6' }],
  'a sparse file': [{ name: 'sparse', type: 'S', content: 'x' }],
  'a sparse file by extension': [
    {
      name: 'pax',
      type: 'x',
      content: `${pax('GNU.sparse.major', '1')}${pax('GNU.sparse.name', 'big')}${pax('GNU.sparse.realsize', '8000000')}`,
    },
    { name: 'GNUSparseFile.1/big', content: 'x' },
  ],
  'an unknown type': [{ name: 'what', type: 'Z', content: 'x' }],
  'the same file twice': [good, { ...good, content: '[]' }],
  'the same file under another spelling': [good, { name: './adapter_config.json', content: '[]' }],
  'a file where a directory is': [
    { name: 'a/b', content: 'x' },
    { name: 'a', content: 'x' },
  ],
  'a directory where a file is': [
    { name: 'a', content: 'x' },
    { name: 'a/b', content: 'x' },
  ],
  'a negative size': [{ name: 'a', size: '-0000000001\0' }],
  'a size of 2^62': [{ name: 'a', size: '\x80\0\0\0\x40\0\0\0\0\0\0\0' }],
  'a size that is not a number': [{ name: 'a', size: 'many bytes..' }],
  'a bad checksum': [{ name: 'a', content: 'x', checksum: '000001\0 ' }],
  'too many entries': Array.from({ length: 101 }, (_, index) => ({ name: `file-${index}` })),
  'too deep a name': [{ name: `${'d/'.repeat(45)}f`, content: 'x' }],
  'a name that is too long': [
    { name: 'pax', type: 'x', content: pax('path', 'n'.repeat(300)) },
    { name: 'short', content: 'x' },
  ],
  'a control character in a name': [{ name: 'a\x07b', content: 'x' }],
  'files larger than the limit': [{ name: 'a', content: new Uint8Array(1_000_001) }],
};

describe(`archives (seed ${SEED})`, LIMIT, () => {
  it.each(
    Object.entries(REFUSED).flatMap(([name, entries]) => [
      [name, 'plain', tar(entries)] as const,
      ...(isFull ? [[name, 'packed', gzipSync(tar(entries))] as const] : []),
    ]),
  )('with %s (%s) are refused, and nothing is left', async (_name, _form, body) => {
    await using rig = await startDownload((_request, wire) => wire.send({ body }));
    await tinkexFailure(rig.download());
    expect(await rig.found()).toEqual([]);
  });

  it('cut off anywhere are refused', async () => {
    const body = tar([good, { name: 'adapter_model.safetensors', content: 'weights' }], false);
    for (const cut of [0, 1, 511, 512, 513, 1_024, 1_535, 1_536, 1_600, body.length]) {
      await using rig = await startDownload((_request, wire) => wire.send({ body: body.subarray(0, cut) }));
      await tinkexFailure(rig.download());
      expect(await rig.found(), `cut at ${cut}`).toEqual([]);
    }
  });

  it.each([
    ['packed zeros', () => gzipSync(Buffer.alloc(64 * 1024 * 1024))],
    ['one packed file', () => gzipSync(tar([{ name: 'a', content: new Uint8Array(32 * 1024 * 1024) }]))],
    [
      'a header that is all extension',
      () => gzipSync(tar([{ name: 'pax', type: 'x', content: pax('comment', 'c'.repeat(20_000_000)) }, good])),
    ],
    [
      'a thousand extensions',
      () => gzipSync(tar([...Array.from({ length: 5_000 }, () => ({ name: 'pax', type: 'x', content: pax('comment', 'c') })), good])),
    ],
    ['packed twice', () => gzipSync(gzipSync(tar([good])))],
  ])('that explode (%s) are refused', async (_name, body) => {
    await using rig = await startDownload((_request, wire) => wire.send({ body: body() }));
    const outcome = await valueOrTinkexError(rig.download());
    if ('value' in outcome) expect(await rig.found()).toEqual(['parent/checkpoint/', 'parent/checkpoint/adapter_config.json']);
    else expect(await rig.found()).toEqual([]);
  });

  it('that are damaged are refused, or unpacked into plain files below their folder', async () => {
    const random = randomOf('archives');
    const honest = tar([{ name: 'dir/', type: '5' }, good, { name: 'dir/adapter_model.safetensors', content: 'weights' }]);
    for (let round = 0; round < (isFull ? 2_000 : 30); round += 1) {
      const body = Buffer.from(honest);
      for (let flip = 0; flip <= random() * 6; flip += 1) body[Math.floor(random() * body.length)] = Math.floor(random() * 256);
      await using rig = await startDownload((_request, wire) => wire.send({ body }));
      const outcome = await valueOrTinkexError(rig.download());
      const found = await rig.found();
      if ('error' in outcome) expect(found, `round ${round}`).toEqual([]);
      else for (const path of found) expect(path, `round ${round}`).toMatch(/^parent\/checkpoint\/(?!.*special)/);
    }
  });

  it('with a false length or shifted bytes end, and nothing of them is used', async () => {
    const body = tar([good]);
    const lies: readonly ((nth: number) => { status?: number; headers?: Record<string, string>; body: Uint8Array })[] = [
      () => ({ headers: { 'content-length': '10000000000' }, body }),
      () => ({ status: 206, headers: { 'content-range': 'bytes 512-1023/1536' }, body }),
      (nth) => ({
        status: nth === 0 ? 200 : 206,
        headers: nth === 0 ? { 'content-length': '1536' } : { 'content-range': 'bytes 3-1535/1536' },
        body: body.subarray(0, 100),
      }),
      () => ({ status: 403, body: Buffer.from('<Code>Expired</Code>') }),
    ];
    for (const lie of lies) {
      let requests = 0;
      await using rig = await startDownload(async (_request, wire) => {
        requests += 1;
        // Ends the attack: the client must have stopped using it by then.
        if (requests > 3) return wire.send({ status: 418 });
        await wire.send(lie(requests - 1));
        return wire.end();
      });
      await tinkexFailure(rig.download());
      expect((await rig.found()).filter((path) => path.includes('checkpoint/'))).toEqual([]);
    }
  });

  it('that come in pieces over torn connections are whole', async () => {
    const content = Buffer.alloc(30_000, 'weights');
    const body = tar([good, { name: 'adapter_model.safetensors', content }]);
    await using rig = await startDownload(async ({ headers, nth }, wire) => {
      const start = Number(/bytes=(\d+)/.exec(headers['range'] ?? '')?.[1] ?? 0);
      const rest = body.subarray(start);
      const status = start === 0 ? 200 : 206;
      const range = {
        'content-range': `bytes ${start}-${body.length - 1}/${body.length}`,
        etag: '"one"',
        'content-length': String(rest.length),
      };
      await wire.send({ status, headers: range, body: nth < 3 ? rest.subarray(0, 10_000) : rest });
      return nth < 3 ? wire.reset() : undefined;
    });
    await rig.download();
    expect(await readFile(join(rig.target, 'adapter_model.safetensors'))).toEqual(content);
  });
});
