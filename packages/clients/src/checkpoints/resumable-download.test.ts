import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { type Clock, systemClock, UndiciTransport } from '@tinkex/http';
import { VirtualClock } from '@tinkex/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { downloadCheckpoint } from './download-checkpoint.js';
import { type DownloadToFileOptions, downloadToFile } from './resumable-download.js';

const content = randomBytes(500_000);
const etag = '"v1"';
type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let root: string;
let server: Server;
let url: string;
let handler: Handler;
let requests: IncomingMessage['headers'][];
let transport: UndiciTransport;

/** Waits between attempts pass immediately; the watch for stalls (an hour here) never fires. */
const hastyClock: Clock = {
  ...systemClock,
  setTimeout: (callback, delayMs) => (delayMs < 60_000 ? setImmediate(callback) : undefined),
  clearTimeout: (handle) => clearImmediate(handle as NodeJS.Immediate | undefined),
};

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tinkex-download-'));
  requests = [];
  server = createServer((request, response) => {
    requests.push(request.headers);
    handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/archive?signature=secret`;
  transport = new UndiciTransport();
});

afterEach(async () => {
  await transport.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(root, { recursive: true, force: true });
});

/** Serves `content` by range, and cuts the connection after `cut` bytes of the body while `times` lasts. */
function serveWithCuts(cut: number, times: number, headers: Record<string, string> = { etag }): Handler {
  let left = times;
  return (request, response) => {
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const body = content.subarray(start);
    response.writeHead(start > 0 ? 206 : 200, {
      'content-length': body.length,
      ...headers,
      ...(start > 0 ? { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` } : {}),
    });
    if (left <= 0) {
      response.end(body);
      return;
    }
    left -= 1;
    response.write(body.subarray(0, cut), () => setImmediate(() => response.destroy()));
  };
}

function download(options: Partial<DownloadToFileOptions> = {}) {
  return downloadToFile(join(root, 'file'), {
    transport,
    clock: hastyClock,
    url,
    maxBytes: 10_000_000,
    stallTimeoutMs: 3_600_000,
    ...options,
  });
}

describe('downloadToFile', () => {
  it('streams a file to disk and reports progress up to the announced length', async () => {
    handler = serveWithCuts(0, 0);
    const seen: number[] = [];
    const result = await download({ onProgress: ({ receivedBytes }) => seen.push(receivedBytes) });
    expect(result).toEqual({ receivedBytes: 500_000, totalBytes: 500_000, resumedBytes: 0 });
    expect(seen.at(-1)).toBe(500_000);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect((await readFile(join(root, 'file'))).equals(content)).toBe(true);
  });

  it('continues where a broken connection stopped, asking for the same version', async () => {
    handler = serveWithCuts(100_000, 2);
    await download();
    expect((await readFile(join(root, 'file'))).equals(content)).toBe(true);
    expect(requests).toHaveLength(3);
    expect(requests[0]?.range).toBeUndefined();
    expect(requests[1]?.range).toMatch(/^bytes=\d+-$/);
    expect(requests[1]?.['if-range']).toBe(etag);
  });

  it('starts again when the file has changed meanwhile', async () => {
    const first = serveWithCuts(50_000, 1);
    handler = (request, response) => {
      if (requests.length === 1) first(request, response);
      // If-Range does not match any more: the whole new file, status 200.
      else response.writeHead(200, { 'content-length': content.length, etag: '"v2"' }).end(content);
    };
    await download();
    expect((await readFile(join(root, 'file'))).equals(content)).toBe(true);
  });

  it('starts again when the server answers another range', async () => {
    const first = serveWithCuts(50_000, 1);
    handler = (request, response) => {
      if (requests.length === 2) response.writeHead(206, { 'content-range': 'bytes 7-9/10', 'content-length': 3 }).end('abc');
      else first(request, response);
    };
    await download();
    expect(requests).toHaveLength(3);
    expect((await readFile(join(root, 'file'))).equals(content)).toBe(true);
  });

  it('asks for a new address when the signed one has expired', async () => {
    const serve = serveWithCuts(50_000, 1);
    handler = (request, response) => {
      if (request.url?.includes('secret') && requests.length > 1) response.writeHead(403).end('expired');
      else serve(request, response);
    };
    await download({ refreshUrl: async () => url.replace('secret', 'fresh') });
    expect(requests).toHaveLength(3);
    expect((await readFile(join(root, 'file'))).equals(content)).toBe(true);
  });

  it('asks for new addresses for as long as each brings some bytes', async () => {
    const serve = serveWithCuts(50_000, 5);
    const used = new Set<string>();
    let addresses = 0;
    handler = (request, response) => {
      // Good for one request each: the connection always breaks after the address has expired.
      if (used.has(request.url ?? '')) response.writeHead(403).end('expired');
      else serve(request, response);
      used.add(request.url ?? '');
    };
    await download({
      refreshUrl: async () => {
        addresses += 1;
        return `${url}${addresses}`;
      },
    });
    expect(addresses).toBe(5);
    expect((await readFile(join(root, 'file'))).equals(content)).toBe(true);
  });

  it('asks for no more than two new addresses in a row', async () => {
    handler = (_, response) => response.writeHead(403).end('no');
    await expect(download({ refreshUrl: async () => url })).rejects.toMatchObject({ status: 403 });
    expect(requests).toHaveLength(3);
  });

  it('starts again when nothing shows whether the file is still the same', async () => {
    handler = serveWithCuts(50_000, 1, {});
    await download();
    expect(requests.map(({ range }) => range)).toEqual([undefined, undefined]);
    expect((await readFile(join(root, 'file'))).equals(content)).toBe(true);
  });

  it('does not mix two files when the server ignores If-Range', async () => {
    const changed = Buffer.from(content).reverse();
    const first = serveWithCuts(50_000, 1);
    handler = (request, response) => {
      if (requests.length === 1) return first(request, response);
      const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
      const range = start > 0 ? { 'content-range': `bytes ${start}-${changed.length - 1}/${changed.length}` } : {};
      response.writeHead(start > 0 ? 206 : 200, { etag: '"v2"', 'content-length': changed.length - start, ...range });
      response.end(changed.subarray(start));
    };
    await download();
    expect((await readFile(join(root, 'file'))).equals(changed)).toBe(true);
  });

  it('shows neither the signed address nor a redirect that is not a URL', async () => {
    handler = (_, response) => response.writeHead(302, { location: 'https://host:999999/file?token=hidden' }).end();
    const failure = await download().catch((error: unknown) => error);
    expect(inspect(failure, { depth: null, showHidden: true })).not.toMatch(/secret|hidden/);
    expect(failure).toMatchObject({ code: 'TINKEX_CONNECTION' });
  });

  it('reports why an object store refused, without the signature it repeats', async () => {
    const refusal = `<?xml version="1.0"?><Error><Code>SignatureDoesNotMatch</Code><Message>They differ.</Message><SignatureProvided>secret</SignatureProvided></Error>`;
    handler = (_, response) => response.writeHead(403).end(refusal);
    const failure = await download().catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 403, message: expect.stringContaining('SignatureDoesNotMatch: They differ.') });
    expect(inspect(failure, { depth: null, showHidden: true })).not.toContain('secret');
  });

  it('sends no credential and follows a redirect', async () => {
    handler = (request, response) => {
      if (request.url?.startsWith('/archive')) response.writeHead(302, { location: '/elsewhere' }).end();
      else serveWithCuts(0, 0)(request, response);
    };
    await download();
    expect(requests).toHaveLength(2);
    for (const headers of requests) expect(Object.keys(headers)).not.toContain('x-api-key');
  });

  it.each([
    ['a redirect loop', '/archive?again', 6, /redirected more than 5 times/],
    ['a redirect to a file', 'file:///etc/passwd', 1, /scheme file:/],
  ])('ends immediately at %s', async (_, location, count, message) => {
    handler = (_request, response) => response.writeHead(302, { location }).end();
    await expect(download()).rejects.toMatchObject({
      code: 'TINKEX_CONNECTION',
      isRetryable: false,
      message: expect.stringMatching(message),
    });
    expect(requests).toHaveLength(count);
  });

  it('gives up after five connections without a byte, without naming the signed address', async () => {
    handler = (request) => request.socket.destroy();
    const failure = await download().then(
      () => undefined,
      (error: unknown) => error as Error,
    );
    expect(failure).toMatchObject({ code: 'TINKEX_CONNECTION' });
    expect(failure?.message).not.toContain('secret');
    expect(requests).toHaveLength(5);
  });

  it('refuses a file over the limit, announced or not', async () => {
    handler = serveWithCuts(0, 0);
    await expect(download({ maxBytes: 499_999 })).rejects.toThrow('larger than 499999 bytes');
    await rm(join(root, 'file'));
    handler = (_, response) => response.writeHead(200).end(content);
    await expect(download({ maxBytes: 499_999 })).rejects.toThrow('larger than 499999 bytes');
  });

  it('gives up a connection that does not move, and resumes', async () => {
    const serve = serveWithCuts(0, 0);
    handler = (request, response) => {
      if (requests.length > 1) serve(request, response);
      else response.writeHead(200, { 'content-length': content.length, etag }).write(content.subarray(0, 1_000));
    };
    const clock = new VirtualClock();
    let hasMoved = (): void => undefined;
    const moved = new Promise<void>((resolve) => {
      hasMoved = resolve;
    });
    const result = download({ clock, stallTimeoutMs: 1_000, onProgress: hasMoved });
    await moved;
    await clock.advance(1_000);
    await clock.waitForTimers(1);
    await clock.advance(500);
    await result;
    expect(requests).toHaveLength(2);
    expect((await readFile(join(root, 'file'))).equals(content)).toBe(true);
  });

  it('fails immediately on a status that will not change', async () => {
    handler = (_, response) => response.writeHead(404).end('gone');
    await expect(download()).rejects.toMatchObject({ status: 404 });
    expect(requests).toHaveLength(1);
  });
});

describe('downloadCheckpoint', () => {
  const path = 'tinker://run:train:0/weights/final';
  const openContent = async () => {
    const signed = { urls: { 'archive.tar': url }, expires: new Date(8.64e15) };
    return { isArchive: true, signed, sign: async () => signed, close: async () => undefined };
  };
  const fetchInto = (directory: string, signal?: AbortSignal) =>
    downloadCheckpoint({ transport, clock: hastyClock, source: () => ({ clientId: 'c', baseUrl: 'b' }), openContent }, path, {
      directory,
      stallTimeoutMs: 3_600_000,
      ...(signal ? { signal } : {}),
    });

  it('leaves nothing behind when the archive is not an archive', async () => {
    handler = serveWithCuts(0, 0);
    await expect(fetchInto(join(root, 'checkpoint'))).rejects.toThrow('refused');
    expect(await readdir(root)).toEqual([]);
  });

  it('leaves nothing behind when it is aborted in the middle', async () => {
    const controller = new AbortController();
    handler = (_, response) => {
      response.writeHead(200, { 'content-length': content.length }).write(content.subarray(0, 1_000));
      setImmediate(() => controller.abort());
    };
    await expect(fetchInto(join(root, 'checkpoint'), controller.signal)).rejects.toMatchObject({ name: 'AbortError' });
    expect(await readdir(root)).toEqual([]);
  });
});
