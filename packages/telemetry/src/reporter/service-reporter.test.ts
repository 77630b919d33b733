import { type Clock, systemClock } from '@tinkex/http';
import { ConnectionError, ValidationError } from '@tinkex/types';
import { apiStatusError, type TelemetryRequest } from '@tinkex/types/wire';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SendBatch } from './delivery.js';
import { ServiceReporter, type ServiceReporterSettings } from './service-reporter.js';

type Event = TelemetryRequest['events'][number];

/** A service that answers by a script, then accepts everything, and records what it receives. */
function service(script: readonly (Error | 'hang' | undefined)[] = []): {
  readonly batches: TelemetryRequest[];
  readonly signals: AbortSignal[];
  send: SendBatch;
} {
  const batches: TelemetryRequest[] = [];
  const signals: AbortSignal[] = [];
  return {
    batches,
    signals,
    send: (batch, signal) => {
      const answer = script[batches.length];
      batches.push(batch);
      signals.push(signal);
      if (answer === 'hang') return new Promise(() => undefined);
      return answer === undefined ? Promise.resolve() : Promise.reject(answer);
    },
  };
}

function reporter(send: SendBatch, settings: Partial<ServiceReporterSettings> = {}): ServiceReporter {
  return new ServiceReporter({ send, sessionId: 'session-1', sdkVersion: '0.25.0', random: () => 0, ...settings });
}

const status = (code: number) => apiStatusError({ status: code, headers: {}, body: 'no' });
const down = () => new ConnectionError({ message: 'refused' });
const note = (name: string) => ({ name, severity: 'INFO' as const, data: {} });
const kinds = (batches: readonly TelemetryRequest[]) => batches.map(({ events }) => events.map(({ event }: Event) => event));
const names = (batches: readonly TelemetryRequest[]) =>
  batches.map(({ events }) => events.map((event: Event) => (event.event === 'GENERIC_EVENT' ? event.eventName : event.event)));

describe('ServiceReporter', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('sends the start of the session with the first batch, after ten seconds, stamped as the service wants it', async () => {
    const { batches, send } = service();
    const reports = reporter(send);
    reports.start();
    reports.start();
    reports.event({ name: 'hello', severity: 'WARNING', data: { a: 1, nothing: null } });
    await vi.advanceTimersByTimeAsync(9_999);
    expect(batches).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    const stamp = { eventId: uuid, timestamp: '2026-01-01T00:00:00.000Z' };
    expect(batches).toEqual([
      {
        events: [
          { event: 'SESSION_START', severity: 'INFO', eventSessionIndex: 0, ...stamp },
          {
            event: 'GENERIC_EVENT',
            severity: 'WARNING',
            eventSessionIndex: 1,
            eventName: 'hello',
            eventData: { a: 1, nothing: null },
            ...stamp,
          },
        ],
        platform: expect.stringMatching(/^(Linux|Darwin|Windows)/),
        sdkVersion: '0.25.0',
        sessionId: 'session-1',
        processUuid: uuid,
      },
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('has one process ID for all its sessions', async () => {
    const { batches, send } = service();
    for (const sessionId of ['a', 'b']) {
      const reports = reporter(send, { sessionId });
      reports.start();
      await reports.close();
    }
    expect(new Set(batches.map(({ processUuid }) => processUuid)).size).toBe(1);
  });

  it('sends immediately when an error is captured, and does not make the caller wait', async () => {
    const { batches, send } = service(['hang']);
    const reports = reporter(send);
    expect(reports.capture(new Error('boom'))).toBeUndefined();
    await vi.advanceTimersByTimeAsync(0);
    expect(batches[0]?.events).toMatchObject([
      { event: 'UNHANDLED_EXCEPTION', severity: 'ERROR', errorType: 'Error', errorMessage: 'boom' },
    ]);
  });

  it('reports the end of the session with a fatal error, with its duration', async () => {
    const { batches, send } = service();
    const reports = reporter(send);
    await vi.advanceTimersByTimeAsync(323_123);
    reports.capture(status(400), { fatal: true });
    await vi.advanceTimersByTimeAsync(0);
    expect(names(batches)).toEqual([['user_error', 'SESSION_END']]);
    expect(batches[0]?.events[1]).toMatchObject({ duration: '0:05:23.123000' });
  });

  it('sends neither start nor end without a session', async () => {
    const { batches, send } = service();
    const reports = reporter(send, { sessionId: 'sessionless-1' });
    reports.start();
    reports.capture(new Error('boom'), { fatal: true });
    await vi.advanceTimersByTimeAsync(0);
    expect(kinds(batches)).toEqual([['UNHANDLED_EXCEPTION']]);
  });

  it('sends batches of a hundred, in order, one after the other', async () => {
    const { batches, send } = service();
    const reports = reporter(send);
    for (let index = 0; index < 250; index += 1) reports.event(note(`n${index}`));
    await expect(reports.flush()).resolves.toBe(true);
    expect(batches.map(({ events }) => events.length)).toEqual([100, 100, 50]);
    expect(batches.flatMap(({ events }) => events.map((event: Event) => event.eventSessionIndex))).toEqual(
      Array.from({ length: 250 }, (_, index) => index),
    );
  });

  it.each([
    [0, 1],
    [Number.NaN, 1],
    [1_000, 100],
  ])('sends batches that the service accepts when maxBatchEvents is %d', async (maxBatchEvents, expected) => {
    // Answers a limited number of times: a reporter that takes nothing out of its queue would send forever.
    const { batches, send } = service([...Array<undefined>(101), 'hang']);
    const reports = reporter(send, { maxBatchEvents });
    for (let index = 0; index < 101; index += 1) reports.event(note(`n${index}`));
    const flushed = reports.flush({ timeoutMs: 1 });
    await vi.advanceTimersByTimeAsync(1);
    expect(await flushed).toBe(true);
    expect(batches[0]?.events).toHaveLength(expected);
  });

  it('drops a group that does not fit as a whole', async () => {
    const { batches, send } = service(['hang']);
    const reports = reporter(send, { maxQueuedEvents: 3 });
    for (const name of ['a', 'b']) reports.event(note(name));
    reports.capture(new Error('boom'), { fatal: true });
    reports.event(note('c'));
    expect(reports.status).toMatchObject({ queued: 3, dropped: 2 });
    await vi.advanceTimersByTimeAsync(0);
    expect(names(batches)).toEqual([['a', 'b']]);
  });

  it('repeats a batch after growing delays until it is delivered', async () => {
    const { batches, send } = service([down(), status(503)]);
    const reports = reporter(send);
    reports.event(note('a'));
    const flushed = reports.flush();
    await vi.advanceTimersByTimeAsync(999);
    expect(batches).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(batches).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1_999);
    expect(batches).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    await expect(flushed).resolves.toBe(true);
    expect(reports.status).toEqual({ queued: 0, sent: 1, dropped: 0, isStopped: false });
    expect(batches[2]).toEqual(batches[0]);
  });

  it('gives a batch up after five attempts, continues with the next, and stops for good after three lost batches', async () => {
    const script = Array.from({ length: 15 }, down);
    const { batches, send } = service(script);
    const reports = reporter(send, { maxBatchEvents: 1 });
    for (const name of ['a', 'b', 'c', 'd']) reports.event(note(name));
    const flushed = reports.flush({ timeoutMs: 3_600_000 });
    await vi.advanceTimersByTimeAsync(3_600_000 - 1);
    await expect(flushed).resolves.toBe(true);
    expect(names(batches).flat().join('')).toBe('aaaaabbbbbccccc');
    expect(reports.status).toEqual({ queued: 0, sent: 0, dropped: 4, isStopped: true });
    reports.event(note('e'));
    expect(reports.status.dropped).toBe(5);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([401, 403, 404, 405])('stops for good when the service answers %i', async (code) => {
    const { batches, send } = service([status(code)]);
    const reports = reporter(send, { maxBatchEvents: 1 });
    for (const name of ['a', 'b']) reports.event(note(name));
    await expect(reports.flush()).resolves.toBe(true);
    expect(batches).toHaveLength(1);
    expect(reports.status).toEqual({ queued: 0, sent: 0, dropped: 2, isStopped: true });
  });

  it.each([
    ['refuses the batch', status(422)],
    ['accepts it with words we do not know', new ValidationError({ message: 'odd', direction: 'response', issues: [] })],
  ])('does not send again what the service %s', async (_what, error) => {
    const { batches, send } = service([error]);
    const reports = reporter(send);
    reports.event(note('a'));
    await reports.flush();
    expect(batches).toHaveLength(1);
    expect(reports.status).toEqual({ queued: 0, sent: 0, dropped: 1, isStopped: false });
  });

  it('aborts a send that never ends, and sends again', async () => {
    const { batches, signals, send } = service(['hang']);
    const reports = reporter(send);
    reports.event(note('a'));
    const flushed = reports.flush();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(signals[0]?.aborted).toBe(true);
    await vi.advanceTimersByTimeAsync(1_000);
    await expect(flushed).resolves.toBe(true);
    expect(batches).toHaveLength(2);
  });

  it('flushes no longer than its time limit', async () => {
    const { send } = service(['hang']);
    const reports = reporter(send);
    reports.event(note('a'));
    const flushed = reports.flush({ timeoutMs: 200 });
    await vi.advanceTimersByTimeAsync(200);
    await expect(flushed).resolves.toBe(false);
  });

  it('keeps the process alive while a caller waits for a flush, and only then', async () => {
    const kept = new Set<number>();
    const clock: Clock = {
      ...systemClock,
      setTimeout: (_callback, delayMs) => ({ ref: () => kept.add(delayMs) }),
      clearTimeout: () => undefined,
    };
    const reports = reporter(service([down()]).send, { clock });
    reports.capture(down());
    await vi.advanceTimersByTimeAsync(0);
    expect(kept).toEqual(new Set());
    void reports.flush({ timeoutMs: 777 });
    expect(kept).toEqual(new Set([777]));
  });

  it('sends what is queued when it is closed, then nothing more', async () => {
    const { batches, send } = service();
    const reports = reporter(send);
    reports.start();
    await Promise.all([reports.close(), reports.close()]);
    reports.capture(new Error('late'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(kinds(batches)).toEqual([['SESSION_START']]);
    expect(reports.status).toEqual({ queued: 0, sent: 1, dropped: 1, isStopped: true });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('closes within its bound when the service hangs, and aborts what is under way', async () => {
    const { signals, send } = service(['hang', 'hang']);
    const reports = reporter(send);
    reports.start();
    const closed = reports.close({ timeoutMs: 300 });
    await vi.advanceTimersByTimeAsync(300);
    await closed;
    expect(signals[0]?.aborted).toBe(true);
    expect(reports.status).toMatchObject({ queued: 0, sent: 0, dropped: 1 });
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('makes one last attempt instead of waiting when it is closed', async () => {
    const { batches, send } = service([down()]);
    const reports = reporter(send);
    reports.capture(new Error('boom'));
    await vi.advanceTimersByTimeAsync(10);
    expect(batches).toHaveLength(1);
    await reports.close();
    expect(batches).toHaveLength(2);
    expect(reports.status.sent).toBe(1);
  });

  it('belongs to its creator: closing one leaves another alone', async () => {
    const { batches, send } = service();
    const first = reporter(send, { sessionId: 'first' });
    const second = reporter(send, { sessionId: 'second' });
    first.start();
    second.start();
    await first.close();
    second.event(note('still here'));
    await second.flush();
    expect(names(batches.filter(({ sessionId }) => sessionId === 'second'))).toEqual([['SESSION_START', 'still here']]);
  });

  it('does nothing when it is not enabled', async () => {
    const { batches, send } = service();
    await using reports = reporter(send, { enabled: false });
    reports.start();
    reports.capture(new Error('boom'), { fatal: true });
    reports.event(note('a'));
    await expect(reports.flush()).resolves.toBe(true);
    expect(batches).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('survives a send that throws synchronously, and data that cannot be read', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const reports = reporter(
      () => {
        throw new Error('no connection object');
      },
      { maxAttempts: 1 },
    );
    const trap = {
      get data(): never {
        throw new Error('trap');
      },
    };
    expect(() => reports.event({ name: 'a', severity: 'INFO', data: trap })).not.toThrow();
    expect(() => reports.capture(new Error('boom'))).not.toThrow();
    await expect(reports.flush()).resolves.toBe(true);
    expect(reports.status).toMatchObject({ queued: 0, sent: 0 });
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });

  it('removes credentials before anything is queued', async () => {
    const { batches, send } = service();
    const reports = reporter(send);
    reports.capture(new Error('bad key tml-abcdef123'));
    reports.event({
      name: 'x',
      severity: 'INFO',
      data: { request_headers: { 'x-api-key': 'hunter2' }, url: 'https://s.example/a?sig=hunter3' },
    });
    await reports.flush();
    const sent = JSON.stringify(batches);
    for (const secret of ['tml-abcdef', 'hunter2', 'hunter3']) expect(sent).not.toContain(secret);
  });
});
