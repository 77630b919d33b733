import {
  type ForwardBackwardOutput,
  FutureExpiredError,
  ModelInput,
  RequestFailedError,
  type SampleResponse,
  ValidationError,
} from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { passOutput, protobufMessage, sampleOutput } from './honest-service.js';
import { HOSTILE_JSON } from './hostile-values.js';
import { encodeMessage, jsonMessage, type Message } from './raw-server.js';
import { datums, isFull, isTo, type Rig, SEED, sampleOf, startRig, tinkexFailure, valueOrTinkexError } from './rig.js';

const LIMIT = { timeout: isFull ? 900_000 : 120_000 };
const prompt = ModelInput.fromInts([5]);
const samplingParams = { maxTokens: 2 };

const json = (body: string): Message => ({ headers: { 'content-type': 'application/json' }, body });

type Waiter<T> = (rig: Rig) => Promise<T>;

/** The three ways to wait for a result: a sample, a pass, and an operation with a result in JSON. */
const WAITS: { readonly pass: Waiter<ForwardBackwardOutput>; readonly sample: Waiter<SampleResponse>; readonly step: Waiter<unknown> } = {
  sample: async ({ service }: Rig) => (await service.createSamplingClient({ baseModel: 'base' })).sample({ prompt, samplingParams }),
  pass: async ({ service }: Rig) => (await service.createLoraTrainingClient({ baseModel: 'base' })).forward(datums(1, 2), 'cross_entropy'),
  step: async ({ service }: Rig) => (await service.createLoraTrainingClient({ baseModel: 'base' })).optimStep(),
};
type Wait = keyof typeof WAITS;

/** The result of any of them. */
function resultOf(wait: Wait, rig: Rig): Promise<unknown> {
  return WAITS[wait](rig);
}

/** Attacks the polls for the result in question, not those for the model. */
const TYPES: Readonly<Record<Wait, string>> = { sample: 'Sample', pass: 'Forward', step: 'OptimStep' };

/** A rig whose polls for this result get `answer`; undefined is the honest one. */
function rigOf(wait: Wait, answer: (nth: number) => Message | undefined): Promise<Rig> {
  let nth = 0;
  return startRig(
    (request, wire) => {
      const message = request.headers['x-tinker-request-type'] === TYPES[wait] ? answer(nth++) : undefined;
      return message !== undefined && wire.send(message);
    },
    { maxRetries: 0 },
  );
}

describe(`polls (seed ${SEED})`, LIMIT, () => {
  describe.each(['sample', 'pass', 'step'] as const)('for a %s', (wait) => {
    it('answered with nonsense end in an error of ours, or in a later honest answer', async () => {
      const bodies = [
        ...sampleOf(`nonsense ${wait}`, HOSTILE_JSON, 8),
        ...['', ' ', '{', '<html>', 'OK', '\u0000', '{"type":"try_again"', '{"request_id":"other"}', '{"status":"complete_metadata"}'],
        ...['{"type":"request_failed"}', '{"error":{}}', '{"error":[[[]]],"category":{}}', '{"error":"no","category":"__proto__"}'],
        ...[
          '{"type":"try_again","queue_state":{"a":1},"queue_state_reason":[]}',
          '{"status":"complete_metadata","response_payload_size":"x"}',
        ],
      ];
      for (const body of bodies) {
        await using rig = await rigOf(wait, (nth) => (nth < 3 ? json(body) : undefined));
        await valueOrTinkexError(resultOf(wait, rig));
        expect(rig.server.requests.length, body).toBeLessThan(40);
      }
    });

    it.each([
      ['text for JSON', { headers: { 'content-type': 'text/html' }, body: '<html>busy</html>' }],
      ['two content types', { headers: { 'content-type': 'application/x-protobuf, application/json' }, body: '{}' }],
      ['damaged protobuf', protobufMessage(Buffer.from([0x0a, 0xff]))],
      [
        'the result of another kind',
        { sample: json('{"metrics":{}}'), pass: json('{"metrics":{}}'), step: protobufMessage(passOutput([1])) }[wait],
      ],
      ['a redirect', { status: 302, headers: { location: '/api/v1/elsewhere' } }],
      ['status 204', { status: 204 }],
      ['status 409', jsonMessage({ detail: 'conflict' }, 409)],
      ['status 418', jsonMessage({ detail: 'teapot' }, 418)],
    ])('answered with %s end', async (_name, message: Message) => {
      await using rig = await rigOf(wait, () => message);
      await valueOrTinkexError(resultOf(wait, rig));
      expect(rig.server.requests.length).toBeLessThan(40);
    });

    it('that say failed or gone say so once', async () => {
      await using failed = await rigOf(wait, () => jsonMessage({ type: 'request_failed', error: 'no', category: 'user' }));
      expect(await tinkexFailure(resultOf(wait, failed))).toBeInstanceOf(RequestFailedError);
      await using gone = await rigOf(wait, () => jsonMessage({ detail: 'gone' }, 410));
      expect(await tinkexFailure(resultOf(wait, gone))).toBeInstanceOf(FutureExpiredError);
    });

    it.each([
      ['408', jsonMessage({ queue_state: 'active' }, 408)],
      ['try again', jsonMessage({ type: 'try_again', request_id: 'x', queue_state: 'paused_capacity' })],
      ['503', jsonMessage({ detail: 'busy' }, 503)],
    ])('answered with an instant %s are not repeated in a busy loop', async (_name, message) => {
      const count = 60;
      await using rig = await rigOf(wait, (nth) => (nth < count ? message : undefined));
      const before = rig.clock.skippedMs;
      await resultOf(wait, rig);
      // The pace grows to one poll per second.
      expect(rig.clock.skippedMs - before).toBeGreaterThan((count - 10) * 500);
    });

    it.each([1e308, -1, 2 ** 60])('that name the size %d leave room for others', async (size) => {
      await using rig = await rigOf(wait, (nth) =>
        nth === 0 ? jsonMessage({ status: 'complete_metadata', response_payload_size: size }) : undefined,
      );
      await resultOf(wait, rig);
      await resultOf(wait, rig);
    });

    it('that answer metadata forever end', async () => {
      await using rig = await rigOf(wait, () => jsonMessage({ status: 'complete_metadata', response_payload_size: 5 }));
      expect(await tinkexFailure(resultOf(wait, rig))).toBeInstanceOf(ValidationError);
    });
  });

  it('swapped between a sample and a pass are errors, not results', async () => {
    await using rig = await startRig((request, wire) => {
      const type = request.headers['x-tinker-request-type'];
      if (type === 'Sample') return wire.send(protobufMessage(passOutput([7, 8])));
      return type === 'Forward' && wire.send(protobufMessage(sampleOutput(7, 2)));
    });
    const sample = await valueOrTinkexError(WAITS.sample(rig));
    const pass = await valueOrTinkexError(WAITS.pass(rig));
    if ('value' in sample) expect(sample.value.sequences.every(({ tokens }) => tokens.length === 0)).toBe(true);
    if ('value' in pass) expect(pass.value.lossFnOutputs).toEqual([]);
  });

  it.each([1, 2, 4])('a result of %d samples for a call of three is an error', async (count) => {
    await using rig = await rigOf('sample', () => protobufMessage(sampleOutput(6, count)));
    const client = await rig.service.createSamplingClient({ baseModel: 'base', retry: true });
    const error = await tinkexFailure(client.sample({ prompt, numSamples: 3, samplingParams }));
    expect(error.message).toContain(`has ${count} entries, though 3 were requested`);
  });

  it.each(['forward_backward', 'optim_step'])('a storm of 409 on %s passes, and the operation runs once', async (name) => {
    await using rig = await startRig(
      (request, wire) => isTo(request, name) && request.nth < 8 && wire.send(jsonMessage({ detail: 'busy' }, 409)),
    );
    const client = await rig.service.createLoraTrainingClient({ baseModel: 'base' });
    const pass = client.forwardBackward(datums(1, 2), 'cross_entropy');
    await Promise.all([pass, client.optimStep()]);
    expect(rig.honest.accepted.get('S:train:0')).toEqual([1, 2]);
    expect(rig.honest.wrong).toEqual([]);
  });

  it.each(['forward_backward', 'optim_step'])(
    'a lost reply to %s and 409 forever after it end with the doubt named, and the next operation runs',
    async (name) => {
      await using rig = await startRig((request, wire, honest) => {
        if (!isTo(request, name)) return false;
        if (request.nth > 0) return wire.send(jsonMessage({ detail: 'this sequence ID is taken' }, 409));
        honest();
        return wire.reset();
      });
      const client = await rig.service.createLoraTrainingClient({ baseModel: 'base' });
      const work = name === 'optim_step' ? client.optimStep() : client.forwardBackward(datums(1, 2), 'cross_entropy');
      const next = client.saveState('next');
      const error = await tinkexFailure(work);
      expect(error.message).toContain('may have run');
      expect((await next).path).toContain('next');
      expect(rig.honest.accepted.get('S:train:0')).toEqual([1, 2]);
    },
  );

  it('honest answers before the request has been read to its end are used', async () => {
    await using rig = await startRig(
      (request, wire, honest) => isTo(request, 'asample') && wire.write(Buffer.concat([honest(), encodeMessage(jsonMessage({}))])),
    );
    const client = await rig.service.createSamplingClient({ baseModel: 'base', retry: true });
    expect((await client.sample({ prompt, samplingParams })).sequences[0]?.tokens[0]).toBe(6);
  });
});
