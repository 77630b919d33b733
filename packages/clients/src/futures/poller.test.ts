import { HttpClient, subscribe } from '@tinkex/http';
import { VirtualClock } from '@tinkex/testkit';
import { AbortedError, BillingError, type FuturePollEvent } from '@tinkex/types';
import { futureRetrieveRequest, parseJson } from '@tinkex/types/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../../vectors/read.js';
import {
  answersInOrder,
  type Handler,
  later,
  never,
  type ScriptedAnswer,
  ScriptedTransport,
} from '../../test/support/scripted-transport.js';
import { AdmissionQueue } from '../limits/admission-queue.js';
import { BillingPause } from '../limits/billing-pause.js';
import { POLL_FLOOR_MAX_MS, POLL_FLOOR_MS, pollFloorMs } from './poll-decision.js';
import { Poller, pollBody } from './poller.js';
import { RESULT_DECODERS } from './result-decoders.js';

function setUp(handler: Handler, { slots = 10, budgetBytes = 1000, pauseMs = 3_600_000 } = {}) {
  const clock = new VirtualClock();
  const transport = new ScriptedTransport(clock, handler);
  const http = new HttpClient({ baseUrl: 'http://server.test', transport, clock, random: () => 0 });
  const responseBudget = AdmissionQueue.bytes(budgetBytes);
  const slotLine = AdmissionQueue.counting(slots);
  const poller = new Poller({
    http,
    clock,
    billingPause: new BillingPause(clock, pauseMs),
    responseBudget,
    slots: slotLine,
    accept: 'application/x-protobuf',
    source: () => ({ clientId: 'c', baseUrl: 'http://server.test' }),
  });
  const poll = (requestId = 'r', signal = new AbortController().signal, onQueueState?: (state: string, reason?: string) => void) =>
    poller.poll({
      requestId,
      requestType: 'OptimStep',
      decoder: RESULT_DECODERS.OptimStep,
      scope: { signal, requestSignal: signal },
      observer: { callId: 1, polled: () => undefined, queueStateIs: ({ state, reason }) => onQueueState?.(state, reason) },
      roundtripMs: 1500,
    });
  return { clock, transport, poller, poll, responseBudget, slotLine };
}

const done: ScriptedAnswer = { status: 200, body: { metrics: { 'lr:mean': 1 } } };
const pending: ScriptedAnswer = { status: 408, body: { queue_state: 'active' } };

interface Expected {
  requests: number;
  sleeps: number[];
  outcome: 'result' | 'error';
  queue_states?: [string, string | null][];
  allow_metadata_only?: boolean[];
}

describe('future-poll vectors, over HTTP', () => {
  it.each(readVectors<{ responses: ScriptedAnswer[] }, Expected>('future-poll'))('$name', async ({ input, expected }) => {
    const { clock, transport, poll, responseBudget, slotLine } = setUp(answersInOrder(input.responses));
    const states: [string, string | null][] = [];
    const outcome = await clock.runUntil(
      poll('r', undefined, (state, reason) => states.push([state, reason ?? null])).then(
        () => 'result',
        () => 'error',
      ),
    );
    expect(outcome).toBe(expected.outcome);
    expect(transport.seen).toHaveLength(expected.requests);
    if (expected.queue_states) expect(states).toEqual(expected.queue_states);
    const bodies = transport.seen.map(({ body }) => (body as { allow_metadata_only: boolean }).allow_metadata_only);
    if (expected.allow_metadata_only) expect(bodies).toEqual(expected.allow_metadata_only);
    expect(transport.seen.map(({ headers }) => headers['x-tinker-request-iteration'])).toEqual(bodies.map((_, index) => String(index)));
    // The floor is the one difference from the reference: where it polls immediately, we keep our pace.
    const waits = transport.seen.slice(1).map(({ atMs }, index) => atMs - (transport.seen[index]?.atMs ?? 0));
    const sleeps = [...expected.sleeps];
    waits.forEach((waitMs, index) => {
      if (sleeps[0] !== undefined && waitMs === sleeps[0] * 1000) sleeps.shift();
      else if (bodies[index] !== bodies[index + 1]) expect(waitMs).toBe(0);
      else {
        expect(waitMs).toBeGreaterThanOrEqual(POLL_FLOOR_MS);
        expect(waitMs).toBeLessThanOrEqual(POLL_FLOOR_MAX_MS);
      }
    });
    expect(sleeps).toEqual([]);
    expect(responseBudget.used).toBe(0);
    expect(slotLine.used).toBe(0);
    expect(clock.pending).toBe(0);
  });
});

describe('Poller', () => {
  it('sends type, iteration and round-trip time, and no credential-less surprises', async () => {
    const { clock, transport, poll } = setUp(answersInOrder([pending, done]));
    await clock.runUntil(poll('req-7'));
    expect(transport.seen[0]).toMatchObject({
      path: '/api/v1/retrieve_future',
      body: { request_id: 'req-7', allow_metadata_only: true },
      headers: { 'x-tinker-request-type': 'OptimStep', 'x-tinker-create-promise-roundtrip-time': '1.5', accept: 'application/json' },
    });
    expect(transport.seen[1]?.headers).not.toHaveProperty('x-tinker-create-promise-roundtrip-time');
  });

  it('does not delay the next poll after a server that held the last one', async () => {
    const clockBox: { clock?: VirtualClock } = {};
    const { clock, transport, poll } = setUp((request) => {
      const clock = clockBox.clock as VirtualClock;
      return request.headers['x-tinker-request-iteration'] === '3' ? done : later(clock, 20_000, pending);
    });
    clockBox.clock = clock;
    await clock.runUntil(poll());
    const waits = transport.seen.slice(1).map(({ atMs }, index) => atMs - (transport.seen[index]?.atMs ?? 0));
    expect(waits).toEqual([20_000, 20_000, 20_000]);
  });

  it('never spins against a server that does not hold polls', async () => {
    const answers = Array.from({ length: 20 }, () => pending);
    const { clock, transport, poll } = setUp(answersInOrder([...answers, done]));
    const start = clock.elapsedMs;
    await clock.runUntil(poll());
    const floors = answers.map((_, index) => pollFloorMs(index, 1));
    expect(clock.elapsedMs - start).toBe(floors.reduce((sum, ms) => sum + ms, 0));
    expect(transport.seen).toHaveLength(21);
  });

  it('takes empty 400s for refused connections, 16 times more often than there are answers, then for the failures they say they are', async () => {
    const { clock, transport, poll } = setUp(() => ({ status: 400, headers: { 'content-length': '0' } }));
    const start = clock.elapsedMs;
    await expect(clock.runUntil(poll())).rejects.toMatchObject({ name: 'RequestFailedError', cause: { status: 400 } });
    expect(transport.seen).toHaveLength(16 + 4);
    expect(clock.elapsedMs - start).toBeGreaterThan((1 + 2 + 4 + 8 + 16 + 11 * 30) * 1_000);
  });

  it('paces by the number of pending promises', () => {
    expect(pollFloorMs(0, 1)).toBe(POLL_FLOOR_MS);
    expect(pollFloorMs(50, 1)).toBe(POLL_FLOOR_MAX_MS);
    expect(pollFloorMs(0, 10_000)).toBe(5_000);
  });

  it('counts a poll that timed out after a long hold as paced already', async () => {
    const clockBox: { clock?: VirtualClock } = {};
    const { clock, transport, poll } = setUp(({ headers }) => {
      if (headers['x-tinker-request-iteration'] === '2') return done;
      return later(clockBox.clock as VirtualClock, 120_000, done);
    });
    clockBox.clock = clock;
    await clock.runUntil(poll());
    const waits = transport.seen.slice(1).map(({ atMs }, index) => atMs - (transport.seen[index]?.atMs ?? 0));
    expect(waits).toEqual([45_000, 45_000]);
  });

  it('keeps at most as many polls in flight as there are slots, and lets ready results go first', async () => {
    const release: (() => void)[] = [];
    const { transport, poll, slotLine } = setUp(() => new Promise((resolve) => release.push(() => resolve(done))), { slots: 2 });
    const all = Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => poll(id)));
    for (let index = 0; index < 5; index += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      expect(slotLine.used).toBeLessThanOrEqual(2);
      release.shift()?.();
    }
    await all;
    expect(transport.seen).toHaveLength(5);
  });

  it('waits for room before it fetches a large result, and gives the room back', async () => {
    const metadata = { status: 200, body: { status: 'complete_metadata', response_payload_size: 800 } };
    const gate: { open?: () => void } = {};
    const { clock, transport, poll, responseBudget } = setUp(
      ({ body }) => {
        const { request_id, allow_metadata_only } = body as { request_id: string; allow_metadata_only: boolean };
        if (allow_metadata_only) return metadata;
        return request_id === 'first' ? new Promise((resolve) => (gate.open = () => resolve(done))) : done;
      },
      { budgetBytes: 700 },
    );
    const first = poll('first');
    await clock.advance(0);
    const second = poll('second');
    await clock.advance(10_000);
    expect(responseBudget.used).toBe(800);
    expect(responseBudget.waiting).toBe(1);
    expect(transport.seen).toHaveLength(3);
    gate.open?.();
    await clock.runUntil(Promise.all([first, second]));
    expect(responseBudget.used).toBe(0);
  });

  it('fails with the 402 itself when the window of the pause is over', async () => {
    const unpaid = { status: 402, body: { detail: 'pay' } };
    const { clock, transport, poll } = setUp(answersInOrder([unpaid], true), { pauseMs: 12_000 });
    await expect(clock.runUntil(poll())).rejects.toThrow(BillingError);
    expect(transport.seen.map(({ atMs }) => atMs - (transport.seen[0]?.atMs ?? 0))).toEqual([0, 5_000, 10_000, 15_000]);
  });

  it('stops on abort in flight and while it sleeps, and leaves nothing behind', async () => {
    const { clock, poll, poller, slotLine } = setUp(answersInOrder([{ status: 429, body: {} }], true));
    const controller = new AbortController();
    const sleeping = poll('r', controller.signal);
    await clock.advance(100);
    controller.abort();
    await expect(sleeping).rejects.toSatisfy(AbortedError.isInstance);
    const hanging = setUp(never);
    const second = new AbortController();
    const inFlight = hanging.poll('r', second.signal);
    await hanging.clock.advance(0);
    second.abort();
    await expect(inFlight).rejects.toSatisfy(AbortedError.isInstance);
    expect([clock.pending, poller.pending, slotLine.used, hanging.clock.pending, hanging.slotLine.used]).toEqual([0, 0, 0, 0, 0]);
  });

  it('publishes each poll with its outcome', async () => {
    const metadata = { status: 200, body: { status: 'complete_metadata', response_payload_size: 1 } };
    const { clock, poll } = setUp(answersInOrder([pending, { status: 500, body: {} }, metadata, done]));
    const events: FuturePollEvent[] = [];
    const stop = subscribe('tinkex:future:poll', (event) => events.push(event));
    await clock.runUntil(poll());
    stop();
    expect(events.map(({ outcome, attempt, status }) => [outcome, attempt, status])).toEqual([
      ['pending', 0, 408],
      ['retry', 1, 500],
      ['metadata', 2, 200],
      ['result', 3, 200],
    ]);
  });
});

describe('pollBody', () => {
  it('writes what the codec writes, for any ID', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), fc.boolean(), (requestId, allowMetadataOnly) => {
        expect(parseJson(pollBody(requestId, allowMetadataOnly))).toEqual(futureRetrieveRequest.encode({ requestId, allowMetadataOnly }));
      }),
    );
  });
});
