import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decompressZstd, loadWasmZstd } from './decompress.js';
import { zstdContentSize } from './zstd-frame.js';

const MAX_BYTES = 2 ** 20;
const FRAME = [0x28, 0xb5, 0x2f, 0xfd];

/** The begin of a frame by its descriptor, and what follows it. */
const header = (descriptor: number, ...rest: number[]): Uint8Array => Uint8Array.from([...FRAME, descriptor, ...rest]);

describe('the header of a zstd frame', () => {
  it.each([
    ['one byte', header(0x20, 200), 200n],
    ['two bytes', header(0x60, 0, 1), 512n],
    ['four bytes, after a window', header(0x80, 0x58, 1, 0, 0, 1), 0x0100_0001n],
    ['eight bytes, after a window and a dictionary', header(0xc1, 0x58, 7, 255, 255, 255, 255, 255, 255, 255, 255), 2n ** 64n - 1n],
    ['none', header(0x00, 0x58), undefined],
  ])('gives the size: %s', (_name, bytes, size) => {
    expect(zstdContentSize(bytes)).toBe(size);
  });

  it.each([
    ['nothing', new Uint8Array()],
    ['another magic number', Uint8Array.from([0x28, 0xb5, 0x2f, 0xfe, 0x20, 1])],
    ['a header cut off', header(0x80, 0x58, 1)],
    ['the reserved bit', header(0x28, 1)],
    ['a window that is too large', header(0x00, 0xff)],
  ])('is refused: %s', (_name, bytes) => {
    expect(() => zstdContentSize(bytes)).toThrow('does not begin with a zstd frame');
  });

  it('is that of real frames', async () => {
    const { compress } = await loadWasmZstd();
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 70_000 }), (size) => zstdContentSize(compress(new Uint8Array(size))) === BigInt(size)),
      { numRuns: 100 },
    );
  });
});

describe('decompression', () => {
  it('refuses what claims to be larger than the limit', async () => {
    const { compress } = await loadWasmZstd();
    await expect(decompressZstd(compress(new Uint8Array(MAX_BYTES + 1)), MAX_BYTES)).rejects.toThrow();
    expect(await decompressZstd(compress(new Uint8Array(MAX_BYTES)), MAX_BYTES)).toHaveLength(MAX_BYTES);
  });

  it('still works after frames of every kind of damage', async () => {
    const { compress } = await loadWasmZstd();
    const text = Uint8Array.from({ length: 5_000 }, (_, index) => index % 251);
    const frame = compress(text);
    const damages = fc.array(fc.tuple(fc.nat(frame.length - 1), fc.nat(255)), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(damages, fc.nat(frame.length), async (bytes, length) => {
        const damaged = frame.slice(0, length);
        for (const [at, value] of bytes) if (at < length) damaged[at] = value;
        await decompressZstd(damaged, MAX_BYTES).catch(() => undefined);
      }),
      { numRuns: 5_000 },
    );
    expect(await decompressZstd(frame, MAX_BYTES)).toEqual(text);
  });
});
