import { ModelInput } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import type { SamplingClient, TrainingClient } from '../../src/index.js';
import { sampleOutput } from './honest-service.js';
import { encodeMessage, jsonMessage, type Wire } from './raw-server.js';
import {
  API_KEY,
  type Attack,
  datums,
  isFull,
  isTo,
  type Rig,
  SEED,
  sampleOf,
  startRig,
  tinkexFailure,
  valueOrTinkexError,
} from './rig.js';

const LIMIT = { timeout: isFull ? 900_000 : 120_000 };
/** More than an answer has, head included. */
const OFFSETS = Array.from({ length: 260 }, (_, offset) => offset);

const sampleWith = async (client: SamplingClient, token: number): Promise<number | undefined> => {
  const { sequences } = await client.sample({ prompt: ModelInput.fromInts([token]), samplingParams: { maxTokens: 2 } });
  return sequences[0]?.tokens[0];
};

const trainWith = async (client: TrainingClient, token: number): Promise<number | undefined> => {
  const pass = client.forwardBackward(datums(token, token + 1), 'cross_entropy');
  const step = client.optimStep();
  const { lossFnOutputs } = await pass;
  await step;
  return lossFnOutputs[1]?.['logprobs']?.toArray()[0] as number | undefined;
};

/** Attacks every second answer of the endpoint; the others are honest, so that the work gets on. */
const everySecond =
  (name: string, strike: Attack): Attack =>
  (request, wire, honest) => {
    if (!isTo(request, name) || request.nth % 2 === 1) return false;
    return strike(request, wire, honest) ?? true;
  };

function expectOnceAndInOrder({ honest }: Rig): void {
  expect(honest.wrong).toEqual([]);
  for (const [owner, seqIds] of honest.accepted) {
    expect(seqIds, owner).toEqual([...seqIds].sort((a, b) => a - b));
    expect(new Set(seqIds).size, owner).toBe(seqIds.length);
  }
}

describe(`connections (seed ${SEED})`, LIMIT, () => {
  describe.each(['asample', 'retrieve_future'])('torn at any byte of the answer to %s', (name) => {
    it.each(['reset', 'end'] as const)('a sample gets its own result, under one sequence ID (%s)', async (how) => {
      for (const offset of sampleOf(`${name} ${how}`, OFFSETS, 10)) {
        const attack = everySecond(name, async (_request, wire, honest) => {
          await wire.write(honest().subarray(0, offset));
          wire[how]();
        });
        await using rig = await startRig(attack);
        const client = await rig.service.createSamplingClient({ baseModel: 'base', retry: true });
        const tokens = await Promise.all([5, 50].map((token) => sampleWith(client, token)));
        expect(tokens, `offset ${offset}`).toEqual([6, 51]);
        expectOnceAndInOrder(rig);
      }
    });
  });

  describe.each(['forward_backward', 'optim_step', 'retrieve_future'])('torn at any byte of the answer to %s', (name) => {
    it.each(['reset', 'end'] as const)('training continues in order (%s)', async (how) => {
      for (const offset of sampleOf(`${name} ${how}`, OFFSETS, 6)) {
        const attack = everySecond(name, async (_request, wire, honest) => {
          await wire.write(honest().subarray(0, offset));
          wire[how]();
        });
        await using rig = await startRig(attack, {}, { fwdbwd_max_chunk_len: 1, parallel_fwdbwd_chunks: offset % 2 === 0 });
        const client = await rig.service.createLoraTrainingClient({ baseModel: 'base' });
        const values = await Promise.all([7, 70].map((token) => trainWith(client, token)));
        expect(values, `offset ${offset}`).toEqual([-8, -71]);
        expect(rig.honest.wrong).toEqual([]);
        expect(new Set(rig.honest.accepted.get('S:train:0')).size).toBe(6);
      }
    });
  });

  it('answers without a length, cut anywhere, give the whole result or an error', async () => {
    const body = sampleOutput(6, 3);
    for (const cut of sampleOf(
      'cut',
      Array.from({ length: body.length }, (_, index) => index),
      25,
    )) {
      const answerCut = async (wire: Wire): Promise<void> => {
        await wire.write('HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\n\r\n');
        await wire.write(body.subarray(0, cut));
        wire.end();
      };
      await using rig = await startRig((request, wire) => isTo(request, 'retrieve_future') && answerCut(wire));
      const client = await rig.service.createSamplingClient({ baseModel: 'base' });
      const work = client.sample({ prompt: ModelInput.fromInts([5]), numSamples: 3, samplingParams: { maxTokens: 2 } });
      const outcome = await valueOrTinkexError(work);
      if ('error' in outcome) continue;
      const tokens = outcome.value.sequences.map((sequence) => [...sequence.tokens]);
      expect(tokens, `cut at ${cut} of ${body.length}`).toEqual([6, 6, 6].map((token, index) => [token, index]));
    }
  });

  it('one byte at a time, in chunks of one byte, the result is whole', async () => {
    await using rig = await startRig((request, wire, honest) => {
      if (isTo(request, 'asample')) return wire.trickle(honest());
      if (!isTo(request, 'retrieve_future')) return false;
      const text = [...sampleOutput(6, 1)].map((byte) => `1\r\n${String.fromCharCode(byte)}\r\n`).join('');
      return wire.write(`HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ntransfer-encoding: chunked\r\n\r\n${text}0\r\n\r\n`);
    });
    const client = await rig.service.createSamplingClient({ baseModel: 'base' });
    expect(await sampleWith(client, 5)).toBe(6);
  });

  it('an unsolicited answer is never the answer to the next request', async () => {
    const stray = encodeMessage({ headers: { 'content-type': 'application/x-protobuf' }, body: sampleOutput(666, 1) });
    await using rig = await startRig((request, wire, honest) => {
      if (!isTo(request, 'asample') && !isTo(request, 'retrieve_future')) return false;
      return wire.write(Buffer.concat([honest(), stray, encodeMessage(jsonMessage({ request_id: 'stray' })), stray]));
    });
    const client = await rig.service.createSamplingClient({ baseModel: 'base', retry: true });
    for (let round = 0; round < 20; round += 1) expect(await sampleWith(client, round)).toBe(round + 1);
  });

  it('all connections reset at the same time, again and again: everything arrives once', async () => {
    let strikes = 0;
    await using rig = await startRig((request, wire, honest) => {
      void wire.write(honest());
      if (!isTo(request, 'asample') || request.nth % 10 !== 9 || strikes >= 15) return true;
      strikes += 1;
      for (const socket of rig.server.sockets) socket.resetAndDestroy();
      return true;
    });
    const client = await rig.service.createSamplingClient({ baseModel: 'base', retry: true });
    const count = isFull ? 2_000 : 150;
    const tokens = await Promise.all(Array.from({ length: count }, (_, index) => sampleWith(client, index)));
    expect(tokens).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    expect(strikes).toBe(15);
    expect(rig.honest.wrong).toEqual([]);
    expect(new Set(rig.honest.accepted.get('S:sample:0')).size).toBe(count);
  });
});

describe('messages that are not HTTP, or not quite', LIMIT, () => {
  const ok = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
  const body = JSON.stringify({ supported_models: [] });
  const refused: Record<string, string> = {
    'a length that is too long': `${ok}content-length: ${body.length + 9}\r\n\r\n${body}`,
    'a length that is too short': `${ok}content-length: 5\r\n\r\n${body}`,
    'a negative length': `${ok}content-length: -1\r\n\r\n${body}`,
    'a length of 2^70': `${ok}content-length: ${2n ** 70n}\r\n\r\n${body}`,
    'a length in hex': `${ok}content-length: 0x16\r\n\r\n${body}`,
    'two lengths': `${ok}content-length: ${body.length}\r\ncontent-length: 3\r\n\r\n${body}`,
    'a length and chunks': `${ok}content-length: ${body.length}\r\ntransfer-encoding: chunked\r\n\r\n${body}`,
    'a chunk of bad size': `${ok}transfer-encoding: chunked\r\n\r\nzz\r\n${body}\r\n0\r\n\r\n`,
    'a chunk of negative size': `${ok}transfer-encoding: chunked\r\n\r\n-5\r\n${body}\r\n0\r\n\r\n`,
    'a chunk of size 2^70': `${ok}transfer-encoding: chunked\r\n\r\n${(2n ** 70n).toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    'HTTP/0.9': body,
    'HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'status 000': `HTTP/1.1 000 No\r\ncontent-length: 0\r\n\r\n`,
    'status 99999': `HTTP/1.1 99999 No\r\ncontent-length: 0\r\n\r\n`,
    'switching protocols': 'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
    'a header with NUL': `${ok}x-bad: a\0b\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    'a header of a megabyte': `${ok}x-long: ${'a'.repeat(1_000_000)}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    'a hundred thousand headers': `${ok}${'a: b\r\n'.repeat(100_000)}content-length: ${body.length}\r\n\r\n${body}`,
    'a status line without an end': `HTTP/1.1 200 ${'O'.repeat(1_000_000)}`,
    'trailers of a megabyte': `${ok}transfer-encoding: chunked\r\n\r\n0\r\nx: ${'a'.repeat(1_000_000)}\r\n\r\n`,
    'a chunk extension of a megabyte': `${ok}transfer-encoding: chunked\r\n\r\n5;${'a'.repeat(1_000_000)}\r\nhello\r\n0\r\n\r\n`,
    'a body in an unknown encoding': `${ok}content-encoding: nonsense\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    'a body that says gzip and is not': `${ok}content-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    'no content': 'HTTP/1.1 204 No Content\r\n\r\n',
    'text that is not UTF-8': `${ok}content-length: 4\r\n\r\n"\xff\xfe"`,
  };

  it.each(Object.entries(refused))('%s is refused, and the next call works', async (_name, bytes) => {
    let isHostile = true;
    await using rig = await startRig(
      async (request, wire) => {
        if (!isHostile || !isTo(request, 'get_server_capabilities')) return wire.send(rig.honest.answer(request));
        await wire.write(bytes);
        return wire.end();
      },
      { maxRetries: 0, maxRetryMs: 0 },
    );
    await tinkexFailure(rig.service.getServerCapabilities());
    isHostile = false;
    expect((await rig.service.getServerCapabilities()).supportedModels).toHaveLength(1);
  });

  it.each([102, 103])('an unasked %d before the answer does not hide the answer', async (status) => {
    await using rig = await startRig((_request, wire, honest) =>
      wire.write(Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Early\r\n\r\n`), honest()])),
    );
    expect((await rig.service.getServerCapabilities()).supportedModels).toHaveLength(1);
  });

  it('silence ends at the deadline', async () => {
    await using rig = await startRig((request) => isTo(request, 'get_server_capabilities'), { maxRetries: 1, maxRetryMs: 0 });
    expect((await tinkexFailure(rig.service.getServerCapabilities())).code).toBe('TINKEX_TIMEOUT');
    expect(rig.server.to('get_server_capabilities')).toHaveLength(2);
  });
});

describe('redirects', LIMIT, () => {
  it.each([301, 302, 303, 307, 308])('a %d never carries the key elsewhere', async (status) => {
    await using elsewhere = await startRig(() => false);
    await using rig = await startRig(
      (request, wire) => {
        if (isTo(request, 'client/config')) return false;
        return wire.send({ status, headers: { location: `${elsewhere.server.url}${request.path}` } });
      },
      { maxRetries: 1, maxRetryMs: 0 },
    );
    await valueOrTinkexError(rig.service.getServerCapabilities());
    await valueOrTinkexError(rig.service.createSamplingClient({ baseModel: 'base' }));
    for (const { headers, body } of elsewhere.server.requests) {
      expect(JSON.stringify(headers)).not.toContain(API_KEY);
      expect(body.toString()).not.toContain(API_KEY);
    }
  });

  it.each(['/api/v1/get_server_capabilities', 'file:///etc/passwd', 'javascript:1', '//', 'http://', '\\\\host\\share'])(
    'to %s end soon',
    async (location) => {
      await using rig = await startRig(
        (request, wire) => isTo(request, 'get_server_capabilities') && wire.send({ status: 302, headers: { location } }),
        { maxRetries: 0, maxRetryMs: 0 },
      );
      await tinkexFailure(rig.service.getServerCapabilities());
      expect(rig.server.to('get_server_capabilities').length).toBeLessThanOrEqual(10);
    },
  );
});
