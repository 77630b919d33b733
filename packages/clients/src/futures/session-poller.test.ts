import { HttpClient } from '@tinkex/http';
import { VirtualClock } from '@tinkex/testkit';
import { AbortedError, ApiStatusError } from '@tinkex/types';
import type { FutureCompletion } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../../vectors/read.js';
import { never, type ScriptedAnswer, ScriptedTransport } from '../../test/support/scripted-transport.js';
import { EndpointCaller } from '../calls/endpoint-caller.js';
import { BillingPause } from '../limits/billing-pause.js';
import { ClientLifetime } from '../runtime/call-scope.js';
import { SessionPoller } from './session-poller.js';

const TARGET = { type: 'sampling_session', samplingSessionId: 's:sample:0', clonedSamplerId: 3 } as const;

function setUp(answer: (poll: number) => ScriptedAnswer | Promise<ScriptedAnswer>, isWindowOver = false) {
  const clock = new VirtualClock();
  const lifetime = new ClientLifetime();
  let polls = 0;
  const transport = new ScriptedTransport(clock, () => answer(polls++));
  const http = new HttpClient({ baseUrl: 'http://server.test', transport, clock, random: () => 0 });
  const billingPause = new BillingPause(clock, isWindowOver ? -1 : 3_600_000);
  if (isWindowOver) billingPause.judge(402);
  const calls = new EndpointCaller({ http, clock, lifetime, billingPause, maxRetryMs: 300_000 });
  const poller = new SessionPoller({ runtime: { clock, lifetime }, calls, billingPause }, TARGET);
  const requests = () => transport.seen.map(({ body }) => body as { prev_cursor: number; retrieved_request_ids: string[] });
  return { clock, lifetime, transport, poller, requests };
}

const finished = (...ids: string[]) => ids.map((id) => ({ state: 'finished', request_id: id }));
const answered = (cursor: number, ...ids: string[]): ScriptedAnswer => ({ status: 200, body: { completions: finished(...ids), cursor } });

interface PollInput {
  readonly waiting: string[];
  readonly then_waiting?: string[];
  readonly mark_retrieved?: boolean;
  readonly billing_window_over?: boolean;
  readonly answers: (ScriptedAnswer & { readonly completions?: unknown; readonly cursor?: number })[];
}

interface PollExpected {
  readonly requests: { readonly prev_cursor: number; readonly retrieved_request_ids: string[] }[];
  readonly sleeps: number[];
  readonly results: Readonly<Record<string, { readonly state?: string; readonly size?: number | null; readonly error?: string }>>;
}

/** The result of a wait as the vectors write it. */
async function outcomeOf(wait: Promise<FutureCompletion>) {
  try {
    const completion = await wait;
    if (completion.state === 'failed') return { state: 'failed' };
    return { state: 'finished', size: completion.responsePayloadUncompressedSize ?? null };
  } catch (error) {
    // An aborted wait is not an outcome of the vectors; every final failure has one error there.
    expect(ApiStatusError.isInstance(error)).toBe(true);
    return { error: 'TinkerError' };
  }
}

describe('session-futures-poll.json', () => {
  const cases = readVectors<PollInput, PollExpected>('session-futures-poll');

  it('finds the cases', () => {
    expect(cases).toHaveLength(26);
  });

  it.each(cases)('$name', async ({ input, expected }) => {
    const answers = input.answers.map((answer) =>
      answer.completions === undefined ? { body: { detail: 'no' }, ...answer } : { status: 200, body: answer },
    );
    const { clock, transport, poller, requests } = setUp((poll) => answers[poll] ?? never(), input.billing_window_over);
    // Samples that are waited for later were submitted by calls that are in progress from the start.
    poller.beginCall();
    const results: Record<string, unknown> = {};
    const waitFor = (ids: string[]) =>
      Promise.all(
        ids.map(async (id) => {
          results[id] = await outcomeOf(poller.wait(id, undefined));
          if (input.mark_retrieved) poller.retrieved(id);
        }),
      );
    await clock.runUntil(waitFor(input.waiting));
    await clock.runUntil(waitFor(input.then_waiting ?? []));
    while (requests().length < expected.requests.length) await clock.advance(clock.nextInMs ?? 0);
    expect(results).toEqual(expected.results);
    expect(requests()).toEqual(expected.requests.map((request) => expect.objectContaining(request)));
    // Shorter waits are the floor between polls and the delay of a report, which the reference does not have.
    const waits = transport.seen.slice(1).map(({ atMs }, index) => atMs - (transport.seen[index]?.atMs ?? 0));
    expect(waits.filter((waitMs) => waitMs >= 1_000).map((waitMs) => waitMs / 1000)).toEqual(expected.sleeps);
  });
});

describe('SessionPoller', () => {
  it('asks for its own sampler and block', async () => {
    const { clock, transport, poller } = setUp(() => answered(1, 'a'));
    await clock.runUntil(poller.wait('a', undefined));
    expect(transport.seen[0]?.body).toMatchObject({
      target: { type: 'sampling_session', sampling_session_id: 's:sample:0', cloned_sampler_id: 3 },
    });
  });

  it('waits for ten thousand samples with one request, and wakes only those that have ended', async () => {
    const ids = Array.from({ length: 10_000 }, (_, index) => `r${index}`);
    const { clock, transport, poller } = setUp((poll) => (poll === 0 ? answered(2, 'r7', 'r9') : never()));
    const woken: string[] = [];
    for (const id of ids) void poller.wait(id, undefined).then(() => woken.push(id));
    await clock.advance(10_000);
    expect(woken).toEqual(['r7', 'r9']);
    expect(transport.seen).toHaveLength(2);
  });

  it('does not poll in a busy loop when the server holds no poll', async () => {
    const { clock, transport, poller } = setUp(() => answered(0));
    void poller.wait('a', undefined);
    await clock.advance(60_000);
    expect(transport.seen.length).toBeLessThan(80);
  });

  it('ends the open poll with the last wait, and the next wait polls again from the same cursor', async () => {
    const { clock, lifetime, requests, poller } = setUp((poll) => (poll === 1 ? answered(1, 'b') : never()));
    const user = new AbortController();
    const wait = poller.wait('a', user.signal);
    await clock.advance(1);
    user.abort(new Error('enough'));
    await expect(wait).rejects.toMatchObject({ name: 'AbortError', cause: new Error('enough') });
    await clock.advance(0);
    expect([lifetime.size, clock.pending]).toEqual([0, 0]);
    await clock.runUntil(poller.wait('b', undefined));
    expect(requests().map(({ prev_cursor }) => prev_cursor)).toEqual([0, 0]);
  });

  it('keeps waiting for the others when one wait is aborted', async () => {
    const { clock, transport, poller } = setUp(() => never());
    const user = new AbortController();
    const [first, second] = [poller.wait('a', user.signal), poller.wait('b', undefined)];
    await clock.advance(1);
    user.abort();
    await expect(first).rejects.toBeInstanceOf(AbortedError);
    void second;
    await clock.advance(1_000);
    expect(transport.seen).toHaveLength(1);
  });

  it('lets go of a poll that only reports, and repeats the report with the next poll', async () => {
    const { clock, lifetime, requests, poller } = setUp((poll) => (poll === 1 ? never() : answered(poll + 1, `r${poll}`)));
    await clock.runUntil(poller.wait('r0', undefined));
    poller.retrieved('r0');
    await clock.advance(60_000);
    expect([lifetime.size, clock.pending]).toEqual([0, 0]);
    await clock.runUntil(poller.wait('r2', undefined));
    expect(requests().map(({ retrieved_request_ids }) => retrieved_request_ids)).toEqual([[], ['r0'], ['r0']]);
  });

  it('forgets what no call in progress can claim any more', async () => {
    const { clock, transport, poller } = setUp((poll) => [answered(1, 'orphan', 'a'), answered(2, 'orphan')][poll] ?? never());
    const call = poller.beginCall();
    await clock.runUntil(poller.wait('a', undefined));
    poller.endCall(call);
    await clock.runUntil(poller.wait('orphan', undefined));
    expect(transport.seen).toHaveLength(2);
  });

  it('keeps a sample that ended early for as long as an older call is in progress', async () => {
    const { clock, transport, poller } = setUp((poll) => (poll === 0 ? answered(1, 'slow', 'a') : never()));
    poller.beginCall();
    const quick = poller.beginCall();
    await clock.runUntil(poller.wait('a', undefined));
    poller.endCall(quick);
    expect(await poller.wait('slow', undefined)).toMatchObject({ requestId: 'slow' });
    expect(transport.seen).toHaveLength(1);
  });

  it('ends with its client', async () => {
    const { clock, lifetime, poller } = setUp(() => never());
    const wait = poller.wait('a', undefined);
    await clock.advance(1);
    lifetime.close();
    await expect(wait).rejects.toThrow('The client was closed.');
    await expect(poller.wait('b', undefined)).rejects.toThrow('The client was closed.');
    expect(clock.pending).toBe(0);
  });
});
