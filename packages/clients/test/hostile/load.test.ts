import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';
import { ModelInput } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { encodeMessage, jsonMessage, RawServer, type Wire } from './raw-server.js';
import { isFull, isTo, randomOf, SEED, sampleOf, startRig, valueOrTinkexError } from './rig.js';

const LIMIT = { timeout: isFull ? 900_000 : 240_000 };
const MIB = 1024 * 1024;
const MAX_RESPONSE_BYTES = 64 * MIB;
/** What a process takes for the first large thing that it does: code, buffers of sockets, room between collections. */
const MARGIN_BYTES = 48 * MIB;
/** What a bomb unpacks to. */
const BOMB_BYTES = (isFull ? 1_024 : 160) * MIB;
const samplingParams = { maxTokens: 2 };

/** Answers whose peak is measured. Each is at the limit or far beyond it. */
const LARGE: Readonly<Record<string, (wire: Wire) => unknown>> = {
  'plain, at its limit': async (wire) => {
    await wire.write(`HTTP/1.1 200 OK\r\ncontent-length: ${MAX_RESPONSE_BYTES}\r\n\r\n`);
    for (let sent = 0; sent < MAX_RESPONSE_BYTES; sent += MIB) await wire.write(Buffer.alloc(MIB, 32));
  },
  'plain, without an end': async (wire) => {
    await wire.write('HTTP/1.1 200 OK\r\n\r\n');
    while (!wire.socket.destroyed) await wire.write(Buffer.alloc(MIB, 32));
  },
  'in chunks of one byte': async (wire) => {
    await wire.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    const chunks = Buffer.from('1\r\nx\r\n'.repeat(100_000));
    for (let sent = 0; sent < (isFull ? 600 : 60) && !wire.socket.destroyed; sent += 1) await wire.write(chunks);
    await wire.write('0\r\n\r\n');
  },
  'a gzip bomb': (wire) => wire.send({ headers: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(BOMB_BYTES)) }),
  'a brotli bomb': (wire) =>
    wire.send({
      headers: { 'content-encoding': 'br' },
      body: brotliCompressSync(Buffer.alloc(BOMB_BYTES), { params: { [zlib.BROTLI_PARAM_QUALITY]: 1 } }),
    }),
};

async function peakOf(answer: (wire: Wire) => unknown): Promise<{ readonly grownBytes: number; readonly outcome: string }> {
  await using server = await RawServer.start((request, wire) => (request.path === '/small' ? wire.send(jsonMessage({})) : answer(wire)));
  const script = fileURLToPath(new URL('./peak-memory.ts', import.meta.url));
  const node = ['--conditions=@tinkex/source', '--import', 'tsx', script, server.url, String(MAX_RESPONSE_BYTES)];
  const { stdout } = await promisify(execFile)(process.execPath, node, { cwd: fileURLToPath(new URL('../..', import.meta.url)) });
  return JSON.parse(stdout) as { grownBytes: number; outcome: string };
}

describe(`load (seed ${SEED})`, LIMIT, () => {
  it.each(sampleOf('peaks', Object.entries(LARGE), 1))('an answer (%s) never takes more than twice its limit', async (name, answer) => {
    const { grownBytes, outcome } = await peakOf(answer);
    if (isFull) console.log(`${name}: ${(grownBytes / MIB).toFixed(0)} MiB for a limit of ${MAX_RESPONSE_BYTES / MIB}: ${outcome}`);
    expect(grownBytes).toBeLessThan(2 * MAX_RESPONSE_BYTES + MARGIN_BYTES);
  });

  it('thousands of calls against every trouble at the same time: each gets its own result, and nothing is left open', async () => {
    const random = randomOf('load');
    const count = isFull ? 10_000 : 400;
    await using rig = await startRig(async (request, wire, honest) => {
      if (!isTo(request, 'asample') && !isTo(request, 'retrieve_future')) return wire.write(honest());
      const dice = random();
      if (dice > 0.2) return wire.write(honest());
      if (dice > 0.16) return wire.reset();
      if (dice > 0.12) return wire.send(jsonMessage({ detail: 'busy' }, 503));
      if (dice > 0.1 && isTo(request, 'asample')) return wire.send(jsonMessage({ detail: 'slow' }, 429, { 'retry-after-ms': '5' }));
      if (dice > 0.08) return wire.trickle(honest(), 40);
      if (dice > 0.04) {
        await wire.write(honest().subarray(0, Math.floor(random() * 200)));
        return wire.end();
      }
      honest();
      return wire.end();
    });
    const client = await rig.service.createSamplingClient({ baseModel: 'base', retry: true });
    const sample = async (token: number): Promise<number | undefined> => {
      const { sequences } = await client.sample({ prompt: ModelInput.fromInts([token]), samplingParams });
      return sequences[0]?.tokens[0];
    };
    const tokens = await Promise.all(Array.from({ length: count }, (_, index) => sample(index)));
    expect(tokens).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    expect(rig.honest.wrong).toEqual([]);
    await valueOrTinkexError(rig.service.close());
    for (let turn = 0; turn < 10_000 && rig.server.sockets.size > 0; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(rig.server.sockets.size).toBe(0);
  });

  it('calls that are given up while the server is silent leave nothing open', async () => {
    await using rig = await startRig((request) => isTo(request, 'asample') || isTo(request, 'get_server_capabilities'));
    const client = await rig.service.createSamplingClient({ baseModel: 'base' });
    const user = new AbortController();
    const calls = Array.from({ length: 100 }, (_, index) =>
      valueOrTinkexError<unknown>(
        index % 2 === 0
          ? client.sample({ prompt: ModelInput.fromInts([index]), samplingParams }, { signal: user.signal })
          : rig.service.getServerCapabilities({ signal: user.signal }),
      ),
    );
    while (rig.server.requests.length < 50) await new Promise((resolve) => setImmediate(resolve));
    user.abort();
    for (const outcome of await Promise.all(calls)) expect(outcome).toHaveProperty('error');
    await valueOrTinkexError(rig.service.close());
    for (let turn = 0; turn < 10_000 && rig.server.sockets.size > 0; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(rig.server.sockets.size).toBe(0);
  });

  it('bytes after the end of the answer, forever, hold up no other call', async () => {
    await using rig = await startRig(async (request, wire, honest) => {
      await wire.write(honest());
      if (isTo(request, 'client/config')) return;
      for (let sent = 0; sent < 200 && !wire.socket.destroyed; sent += 1) await wire.write(encodeMessage({ body: 'x'.repeat(10_000) }));
    });
    for (let round = 0; round < 5; round += 1) {
      const outcome = await valueOrTinkexError(rig.service.getServerCapabilities());
      if ('value' in outcome) expect(outcome.value.supportedModels).toHaveLength(1);
    }
  });
});
