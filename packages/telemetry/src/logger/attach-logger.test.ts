import { Writable } from 'node:stream';
import { hasSubscribers } from '@tinkex/http';
import pino from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { collectingSink } from '../../test/collecting-sink.js';
import { publishAll, publishSample } from '../../test/sample-events.js';
import { EVENT_NAMES } from '../events/catalogue.js';
import { attachLogger } from './attach-logger.js';
import { pinoSink } from './log-sink.js';

const stop = 'tinkex:http:request:stop';
const ignore = (): void => undefined;

describe('attachLogger', () => {
  it('writes every event at level debug, with its name and its fields', () => {
    const sink = collectingSink();
    using logger = attachLogger({ level: 'debug', sink });
    publishAll();
    expect(sink.lines.map(({ fields }) => fields['event'])).toEqual(EVENT_NAMES);
    expect(sink.lines.every(({ fields }) => fields['clientId'] === 'client-a' && fields['baseUrl'] === 'https://a.example/api')).toBe(true);
    expect(logger.lines).toBe(EVENT_NAMES.length);
  });

  it('puts the most informative fields into the message', () => {
    const sink = collectingSink();
    using _logger = attachLogger({ level: 'debug', sink });
    publishSample(stop, { status: 503, durationMs: 12.345 });
    publishSample(stop, { requestType: 'POST /api/v1/asample' });
    publishSample('tinkex:queue:state_change');
    publishSample('tinkex:http:request:retry');
    publishSample('tinkex:recovery:attempt_failed');
    expect(sink.lines.map(({ message }) => message)).toEqual([
      'tinkex:http:request:stop Sample POST /api/v1/asample 503 in 12.3 ms',
      'tinkex:http:request:stop POST /api/v1/asample 200 in 20 ms',
      'tinkex:queue:state_change ForwardBackward active -> paused_capacity',
      'tinkex:http:request:retry Sample POST /api/v1/asample 503 delay 500 ms',
      'tinkex:recovery:attempt_failed run TINKEX_CONNECTION in 700 ms',
    ]);
  });

  it('does not even subscribe to events that are never loud enough', () => {
    using _logger = attachLogger({ level: 'error', sink: collectingSink() });
    expect(EVENT_NAMES.filter((name) => hasSubscribers(name))).toEqual(['tinkex:future:unobserved_failure', 'tinkex:recovery:given_up']);
  });

  it('subscribes to nothing when it is off', () => {
    using _logger = attachLogger({ level: 'off', sink: collectingSink() });
    expect(EVENT_NAMES.filter((name) => hasSubscribers(name))).toEqual([]);
  });

  it('raises failures: an error status, a rejected future, a failed sample', () => {
    const sink = collectingSink();
    using _logger = attachLogger({ level: 'warn', sink });
    publishSample(stop, { status: 200 });
    publishSample(stop, { status: 429 });
    publishSample('tinkex:future:settled', { outcome: 'resolved' });
    publishSample('tinkex:future:settled', { outcome: 'rejected', errorCode: 'X' });
    publishSample('tinkex:sampling:call', { errorCode: 'X' });
    expect(sink.lines.map(({ level, fields }) => [level, fields['event']])).toEqual([
      ['warn', stop],
      ['warn', 'tinkex:future:settled'],
      ['warn', 'tinkex:sampling:call'],
    ]);
  });

  it('takes other levels for some events', () => {
    const sink = collectingSink();
    using _logger = attachLogger({ level: 'info', sink, levels: { [stop]: 'error', 'tinkex:session:start': 'off' } });
    publishSample(stop);
    publishSample('tinkex:session:start');
    publishSample('tinkex:session:end');
    expect(sink.lines.map(({ level, fields }) => [level, fields['event']])).toEqual([
      ['error', stop],
      ['info', 'tinkex:session:end'],
    ]);
  });

  it('writes to the console by default', () => {
    const info = vi.spyOn(console, 'info').mockImplementation(ignore);
    {
      using _logger = attachLogger();
      publishSample('tinkex:session:start');
    }
    publishSample('tinkex:session:start');
    expect(info).toHaveBeenCalledExactlyOnceWith(
      'tinkex:session:start in 5 ms',
      expect.objectContaining({ event: 'tinkex:session:start', sessionId: 'session-a' }),
    );
    info.mockRestore();
  });

  it('writes through pino', () => {
    const written: string[] = [];
    const stream = new Writable({
      write(chunk, _encoding, done) {
        written.push(String(chunk));
        done();
      },
    });
    using _logger = attachLogger({ level: 'debug', sink: pinoSink(pino({ level: 'debug' }, stream)) });
    publishSample('tinkex:rate_limit:set');
    publishSample('tinkex:future:unobserved_failure');
    publishSample(stop);
    publishSample('tinkex:session:end');
    const lines = written.map((line) => JSON.parse(line) as { level: number; event: string; msg: string });
    expect(lines.map(({ level, event }) => [level, event])).toEqual([
      [40, 'tinkex:rate_limit:set'],
      [50, 'tinkex:future:unobserved_failure'],
      [20, stop],
      [30, 'tinkex:session:end'],
    ]);
    expect(lines[0]?.msg).toContain('delay 1000 ms');
  });

  it('shows content only with includeContent, and only when an event has it', () => {
    const content = { prompt: Int32Array.of(1, 2), sequences: [Int32Array.of(3)] };
    const silent = collectingSink();
    const talkative = collectingSink();
    using _silent = attachLogger({ sink: silent });
    using _talkative = attachLogger({ sink: talkative, includeContent: true });
    publishSample('tinkex:sampling:call', { content });
    publishSample('tinkex:sampling:call');
    expect(silent.lines.some(({ fields }) => 'content' in fields)).toBe(false);
    expect(talkative.lines.map(({ fields }) => fields['content'])).toEqual([{ prompt: [1, 2], sequences: [[3]] }, undefined]);
  });

  it('counts what a throwing sink throws', () => {
    const sink = { ...collectingSink(), info: () => JSON.parse('{') };
    const logger = attachLogger({ sink, onError: ignore });
    expect(() => publishSample('tinkex:session:start')).not.toThrow();
    logger.detach();
    expect(logger.errors).toBe(1);
  });

  it('counts what an asynchronous sink rejects with: nothing is left unhandled', async () => {
    const errors: unknown[] = [];
    const unhandled: unknown[] = [];
    const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', onUnhandled);
    const sink = { ...collectingSink(), info: () => Promise.reject(new Error('disk full')) };
    const logger = attachLogger({ sink, onError: (error) => errors.push(error) });
    publishSample('tinkex:session:start');
    await new Promise((resolve) => setImmediate(resolve));
    logger.detach();
    process.off('unhandledRejection', onUnhandled);
    expect(errors).toEqual([new Error('disk full')]);
    expect(unhandled).toEqual([]);
  });

  it('drops lines rather than piling them up behind a slow sink, and recovers', async () => {
    const release: (() => void)[] = [];
    const sink = { ...collectingSink(), info: () => new Promise<void>((resolve) => release.push(resolve)) };
    using logger = attachLogger({ sink, maxPendingWrites: 3 });
    for (let count = 0; count < 10; count += 1) publishSample('tinkex:session:start');
    expect([release.length, logger.dropped]).toEqual([3, 7]);
    release[0]?.();
    await Promise.resolve();
    await Promise.resolve();
    publishSample('tinkex:session:start');
    expect([release.length, logger.lines, logger.dropped]).toEqual([4, 4, 7]);
  });
});
