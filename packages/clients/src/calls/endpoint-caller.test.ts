import { HttpClient } from '@tinkex/http';
import type { RetryFailure } from '@tinkex/telemetry/reporter';
import { VirtualClock } from '@tinkex/testkit';
import { AbortedError, ConflictError, TimeoutError, ValidationError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../../vectors/read.js';
import { answersInOrder, type Handler, type ScriptedAnswer, ScriptedTransport } from '../../test/support/scripted-transport.js';
import { BillingPause } from '../limits/billing-pause.js';
import { ClientLifetime } from '../runtime/call-scope.js';
import { EndpointCaller, type EndpointCallerParts } from './endpoint-caller.js';

function setUp(handler: Handler, parts: Pick<Partial<EndpointCallerParts>, 'maxRetryMs' | 'onFailedRound' | 'onHttpRetry'> = {}) {
  const clock = new VirtualClock();
  const transport = new ScriptedTransport(clock, handler);
  const http = new HttpClient({ baseUrl: 'http://server.test', transport, clock, random: () => 0 });
  const lifetime = new ClientLifetime();
  const caller = new EndpointCaller({
    http,
    clock,
    lifetime,
    billingPause: new BillingPause(clock, 3_600_000),
    maxRetryMs: 300_000,
    ...parts,
  });
  return { clock, transport, caller, lifetime };
}

interface Input {
  http_max_retries: number;
  execute_with_retries: boolean;
  responses: ScriptedAnswer[];
  repeat_last?: boolean;
}

interface Expected {
  outcome: 'result' | 'error';
  error?: string;
  requests: number;
  sleeps: number[];
  retry_counts: number[];
  distinct_idempotency_keys: number;
}

const CLASSES: Readonly<Record<string, string>> = {
  InternalServerError: 'ServerError',
  APITimeoutError: 'TimeoutError',
  APIConnectionError: 'ConnectionError',
  APIStatusError: 'BillingError',
  APIResponseValidationError: 'ValidationError',
};

const body = { modelId: 'm', seqId: 1 };

describe('submit-retry vectors', () => {
  it.each(readVectors<Input, Expected>('submit-retry'))('$name', async ({ input, expected }) => {
    const { clock, transport, caller } = setUp(answersInOrder(input.responses, input.repeat_last));
    const options = { hasOuterRetry: input.execute_with_retries, maxRetries: input.http_max_retries };
    const outcome = await clock.runUntil(
      caller.call('optimStep', { body }, options).then(
        () => 'result',
        (error: Error) => error.name,
      ),
    );
    const failure = expected.error === undefined ? undefined : (CLASSES[expected.error] ?? expected.error);
    expect(outcome).toBe(failure ?? 'result');
    expect(transport.seen).toHaveLength(expected.requests);
    const waits = transport.seen.slice(1).map(({ atMs }, index) => (atMs - (transport.seen[index]?.atMs ?? 0)) / 1000);
    expect(waits).toEqual(expected.sleeps);
    expect(transport.seen.map(({ headers }) => Number(headers['x-stainless-retry-count']))).toEqual(expected.retry_counts);
    expect(new Set(transport.seen.map(({ headers }) => headers['x-idempotency-key'])).size).toBe(expected.distinct_idempotency_keys);
    expect(clock.pending).toBe(0);
  });
});

describe('EndpointCaller', () => {
  it('puts path values in as they are and refuses empty ones', async () => {
    const { transport, caller } = setUp(() => ({ status: 200, body: {} }));
    await caller.call('publishCheckpoint', { params: { trainingRunId: 'S:train:0', checkpointId: 'weights/a' } });
    expect(transport.seen[0]?.path).toBe('/api/v1/training_runs/S:train:0/checkpoints/weights/a/publish');
    await expect(caller.call('getTrainingRun', { params: { trainingRunId: '' } })).rejects.toThrow(ValidationError);
  });

  it('obeys timeoutMs over all retries, signal, and close, and leaves nothing behind', async () => {
    const { clock, caller, lifetime } = setUp(() => ({ status: 503, body: {} }));
    const timed = caller.call('optimStep', { body }, { timeoutMs: 7_000 });
    const controller = new AbortController();
    const aborted = caller.call('optimStep', { body }, { signal: controller.signal });
    const closed = caller.call('optimStep', { body });
    await Promise.all([
      expect(clock.runUntil(timed)).rejects.toSatisfy((error) => TimeoutError.isInstance(error) && error.phase === 'total'),
      expect(aborted).rejects.toSatisfy((error) => AbortedError.isInstance(error) && error.cause === 'enough'),
      expect(closed).rejects.toSatisfy((error) => AbortedError.isInstance(error) && /closed/.test(error.message)),
      clock.advance(7_000).then(async () => {
        controller.abort('enough');
        await clock.advance(0);
        lifetime.close();
      }),
    ]);
    await expect(caller.call('optimStep', { body })).rejects.toSatisfy(AbortedError.isInstance);
    expect([clock.pending, lifetime.size]).toEqual([0, 0]);
  });

  it('reports each round and each HTTP attempt that is repeated', async () => {
    const rounds: RetryFailure[] = [];
    const attempts: unknown[] = [];
    const { clock, caller } = setUp(
      answersInOrder([
        { status: 503, body: {} },
        { status: 409, body: {} },
        { status: 200, body: { request_id: 'r' } },
      ]),
      { onFailedRound: (round) => rounds.push(round), onHttpRetry: ({ status }) => attempts.push(status) },
    );
    const startedWallMs = clock.wallMs();
    await clock.runUntil(caller.call('optimStep', { body }, { maxRetries: 1 }));
    expect(attempts).toEqual([503]);
    expect(rounds).toEqual([
      {
        operation: 'optimStep',
        error: expect.any(ConflictError),
        isRetried: true,
        attempt: 0,
        elapsedMs: 500,
        wallMs: startedWallMs + 500,
      },
    ]);
  });

  it('repeats the empty 400 of a proxy where no outer layer would, as often as other broken connections', async () => {
    const answers = answersInOrder([{ status: 400 }, { status: 400 }, { status: 200, body: { session_id: 'S' } }]);
    const { clock, caller, transport } = setUp(answers);
    const session = { tags: [], userMetadata: {}, sdkVersion: '0' };
    expect(await clock.runUntil(caller.call('createSession', { body: session }))).toMatchObject({ sessionId: 'S' });
    expect(new Set(transport.seen.map(({ headers }) => headers['x-idempotency-key'])).size).toBe(1);

    const never = setUp(answersInOrder([{ status: 400 }], true));
    const failed = never.caller.call('createSession', { body: session }, { maxRetries: 3 });
    await expect(never.clock.runUntil(failed)).rejects.toMatchObject({ name: 'ConnectionError', attempts: 4 });
  });

  it('refuses an answer that is larger than the endpoint can give', async () => {
    const padding = 'x'.repeat(2 ** 20);
    const { clock, caller } = setUp(answersInOrder([{ status: 200, body: { request_id: 'r', padding } }], true));
    await expect(clock.runUntil(caller.call('optimStep', { body }))).rejects.toThrow('larger than the limit of 1048576 bytes');
    // A list holds what users have stored.
    const list = setUp(answersInOrder([{ status: 200, body: { supported_models: [], padding } }]));
    expect(await list.clock.runUntil(list.caller.call('getServerCapabilities', {}))).toMatchObject({ supportedModels: [] });
  });

  it('ends the outer layer at the limit of the client; 0 leaves the HTTP retries alone', async () => {
    const never = answersInOrder([{ status: 503, body: {} }], true);
    for (const [maxRetryMs, requests] of [
      [0, 2],
      [3_000, 6],
    ] as const) {
      const { clock, caller, transport } = setUp(never, { maxRetryMs });
      await expect(clock.runUntil(caller.call('optimStep', { body }, { maxRetries: 1 }))).rejects.toMatchObject({ status: 503 });
      expect(transport.seen).toHaveLength(requests);
    }
  });
});
