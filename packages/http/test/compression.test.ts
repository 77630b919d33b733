import * as zlib from 'node:zlib';
import { brotliCompressSync, deflateSync } from 'node:zlib';
import { decompress } from '@bokuweb/zstd-wasm';
import { ValidationError } from '@tinkex/types';
import { beforeAll, describe, expect, it } from 'vitest';
import { compressZstd, nativeCompressor, wasmCompressor } from '../src/compression/zstd.js';
import { createResponse, HttpClient } from '../src/index.js';
import { VirtualClock } from '../src/testing/index.js';
import { failure } from './support/failure.js';
import { ScriptedTransport } from './support/scripted-transport.js';
import { turn } from './support/turn.js';

const baseUrl = 'http://service.test';
const body = new TextEncoder().encode('tokens '.repeat(1_000));

// Loading takes real time, which a manual clock does not see; `decompress` needs the package to be loaded, too.
beforeAll(async () => {
  await compressZstd(body);
  await wasmCompressor();
});

describe('request bodies', () => {
  it('are sent as one zstd frame, compressed once for all attempts', async () => {
    const clock = new VirtualClock();
    const transport = new ScriptedTransport([createResponse({ status: 503, body: {} }), createResponse({ body: {} })]);
    const client = new HttpClient({ baseUrl, transport, clock });
    const call = client.request({ method: 'POST', path: '/x', body, contentType: 'application/x-protobuf', compress: 'zstd' });
    // Node's own compressor works on another thread, which the clock does not know about.
    while (transport.requests.length === 0) await turn(1);
    await clock.runUntil(call);
    const [first, second] = transport.requests;
    expect(first?.headers).toMatchObject({ 'content-encoding': 'zstd', 'content-type': 'application/x-protobuf' });
    expect(first?.body?.length).toBeLessThan(200);
    expect(second?.body).toBe(first?.body);
    expect(new Uint8Array(decompress(first?.body as Uint8Array))).toEqual(body);
  });

  it('may be JSON as well', async () => {
    const transport = new ScriptedTransport([createResponse({ body: {} })]);
    await new HttpClient({ baseUrl, transport }).request({ method: 'POST', path: '/x', body: { text: 'ü'.repeat(500) }, compress: 'zstd' });
    const sent = decompress(transport.requests[0]?.body as Uint8Array);
    expect(JSON.parse(new TextDecoder().decode(sent))).toEqual({ text: 'ü'.repeat(500) });
  });

  it('stay as they are without being asked', async () => {
    const transport = new ScriptedTransport([createResponse({ body: {} })]);
    await new HttpClient({ baseUrl, transport }).request({ method: 'POST', path: '/x', body, contentType: 'application/x-protobuf' });
    expect(transport.requests[0]?.body).toBe(body);
    expect(transport.requests[0]?.headers).not.toHaveProperty('content-encoding');
  });
});

describe('compressors', () => {
  it("use Node's own where it exists", async () => {
    const compress = nativeCompressor({
      zstdCompress: (input: Uint8Array, done: (error: null, output: Uint8Array) => void) => done(null, input.subarray(0, 3)),
    });
    expect(await compress?.(body)).toEqual(body.subarray(0, 3));
    const failing = nativeCompressor({ zstdCompress: (_input: Uint8Array, done: (error: Error) => void) => done(new Error('broken')) });
    await expect(failing?.(body)).rejects.toThrow('broken');
    expect(nativeCompressor({})).toBeUndefined();
    expect(nativeCompressor(zlib) === undefined).toBe(!('zstdCompress' in zlib));
  });

  it('use the optional package where it is installed, and nothing where it is not', async () => {
    const compress = await wasmCompressor();
    expect(new Uint8Array(decompress((await compress?.(body)) as Uint8Array))).toEqual(body);
    expect(await wasmCompressor(() => Promise.reject(new Error('not installed')))).toBeUndefined();
  });
});

describe('response bodies', () => {
  const answer = (encoding: string, bytes: Uint8Array) =>
    new ScriptedTransport([createResponse({ headers: { 'content-encoding': encoding, 'content-type': 'application/json' }, body: bytes })]);

  it.each([
    ['br', brotliCompressSync('{"a":1}')],
    ['deflate', deflateSync('{"a":1}')],
    ['identity', new TextEncoder().encode('{"a":1}')],
  ])('are unpacked: %s', async (encoding, bytes) => {
    expect(await new HttpClient({ baseUrl, transport: answer(encoding, bytes) }).request({ method: 'GET', path: '/x' })).toEqual({ a: 1 });
  });

  it('may have a limit that no buffer can reach', async () => {
    const client = new HttpClient({
      baseUrl,
      transport: answer('br', brotliCompressSync('{"a":1}')),
      maxResponseBytes: Number.MAX_SAFE_INTEGER,
    });
    expect(await client.request({ method: 'GET', path: '/x', maxRetries: 0 })).toEqual({ a: 1 });
  });

  it('with an unknown encoding are rejected', async () => {
    const error = await failure(new HttpClient({ baseUrl, transport: answer('rot13', body) }).request({ method: 'GET', path: '/x' }));
    expect(error).toBeInstanceOf(ValidationError);
    expect(error.message).toContain('rot13');
    const streamed = await failure(new HttpClient({ baseUrl, transport: answer('rot13', body) }).stream({ method: 'GET', path: '/x' }));
    expect(streamed).toBeInstanceOf(ValidationError);
  });
});
