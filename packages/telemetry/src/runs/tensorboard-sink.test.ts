import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { crc32c } from './crc32c.js';
import { encodeScalarsEvent, encodeVersionEvent, frameRecord, tensorboardSink } from './tensorboard-sink.js';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('CRC-32C', () => {
  it.each([
    // The examples of RFC 3720, appendix B.4.
    ['32 zeros', new Uint8Array(32), 0x8a9136aa],
    ['32 ones', new Uint8Array(32).fill(0xff), 0x62a8ab43],
    ['ascending bytes', Uint8Array.from({ length: 32 }, (_, index) => index), 0x46dd794e],
    ['the digits', Buffer.from('123456789'), 0xe3069283],
  ])('of %s', (_name, bytes, expected) => {
    expect(crc32c(bytes)).toBe(expected);
  });
});

describe('event files', () => {
  it('frame a record as TFRecord does', () => {
    // Length, masked checksum of the length, content, masked checksum of the content.
    const framed = frameRecord(encodeVersionEvent(0));
    expect(hex(framed.subarray(0, 12))).toBe(`1800000000000000a37f4b22`);
    expect(hex(framed.subarray(12, -4))).toBe(`0900000000000000001a0d${hex(Buffer.from('brain.Event:2'))}`);
    expect(framed).toHaveLength(24 + 16);
  });

  it('hold one scalar per metric, with time and step', () => {
    expect(hex(encodeScalarsEvent({ a: 1, bc: -2 }, 300, 1))).toBe(
      ['09000000000000f03f', '10ac02', '2a15', '0a08', '0a0161', '150000803f', '0a09', '0a026263', '15000000c0'].join(''),
    );
  });

  it('begin with their version and are appended record by record', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'tinkex-tb-'));
    const sink = tensorboardSink(directory, { nowMs: () => 5_000 });
    await sink.logMetrics({ loss: 1 }, 0);
    await sink.logMetrics({ loss: 0.5 }, 1);
    await sink.close?.();
    const [name] = await readdir(directory);
    expect(name).toMatch(/^events\.out\.tfevents\.5\./);
    const written = await readFile(join(directory, name as string));
    const expected = [encodeVersionEvent(5), encodeScalarsEvent({ loss: 1 }, 0, 5), encodeScalarsEvent({ loss: 0.5 }, 1, 5)];
    expect(hex(written)).toBe(expected.map((event) => hex(frameRecord(event))).join(''));
    await rm(directory, { recursive: true });
  });
});
