import { hasSubscribers, publish } from '@tinkex/http';
import type { HttpRequestEvent, TinkexEventName, TinkexEvents } from '@tinkex/types';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { publishSample, samples } from '../../test/sample-events.js';
import type { EventHandlers } from '../events/event-handlers.js';
import { type AttachOptions, Consumer, type Subscribe } from './consumer.js';

const stop = 'tinkex:http:request:stop';
const ignore = (): void => undefined;

function attach(name: string, handlers: EventHandlers, options?: AttachOptions): Consumer {
  const consumer = new Consumer(name, options);
  consumer.listen(handlers);
  return consumer;
}

describe('a consumer', () => {
  afterEach(() => {
    vi.restoreAllMocks();
    expect(hasSubscribers(stop)).toBe(false);
  });

  it('hears events until it is detached, and detaching twice is harmless', () => {
    const heard: HttpRequestEvent[] = [];
    const attachment = attach('test', { [stop]: (event) => heard.push(event) });
    publishSample(stop);
    attachment.detach();
    attachment.detach();
    publishSample(stop);
    expect(heard).toHaveLength(1);
  });

  it('detaches at the end of a using block', () => {
    {
      using _attachment = attach('test', { [stop]: ignore });
      expect(hasSubscribers(stop)).toBe(true);
    }
    expect(hasSubscribers(stop)).toBe(false);
  });

  it('subscribes to nothing but the events it handles', () => {
    using _attachment = attach('test', { [stop]: ignore });
    expect(hasSubscribers('tinkex:http:request:start')).toBe(false);
  });

  it('hears nothing after detach() even from a publisher that still holds the listener', () => {
    const listeners: ((event: never) => void)[] = [];
    const subscribe: Subscribe = <Name extends TinkexEventName>(_name: Name, listener: (event: TinkexEvents[Name]) => void) => {
      listeners.push(listener);
      return ignore;
    };
    const heard: unknown[] = [];
    const attachment = attach('test', { [stop]: (event) => heard.push(event) }, { subscribe });
    attachment.detach();
    for (const listener of listeners) listener(samples[stop]() as never);
    expect(listeners).toHaveLength(1);
    expect(heard).toEqual([]);
  });

  it.each([
    ['one client id', { clientId: 'a' }, ['a']],
    ['several client ids', { clientId: ['a', 'c'] }, ['a', 'c']],
    ['a base URL in another spelling', { baseUrl: 'HTTPS://One.Example:443/api/' }, ['a', 'b']],
    ['a predicate', { filter: ({ sessionId }: { sessionId?: string | undefined }) => sessionId === 's2' }, ['b', 'c']],
    [
      'all of them together',
      { baseUrl: 'https://one.example/api', filter: ({ sessionId }: { sessionId?: string | undefined }) => sessionId === 's2' },
      ['b'],
    ],
  ])('filters by %s', (_what, options, expected) => {
    const heard: string[] = [];
    using _attachment = attach('test', { [stop]: ({ clientId }) => heard.push(clientId) }, options);
    publishSample(stop, { clientId: 'a', baseUrl: 'https://one.example/api', sessionId: 's1' });
    publishSample(stop, { clientId: 'b', baseUrl: 'https://one.example/api', sessionId: 's2' });
    publishSample(stop, { clientId: 'c', baseUrl: 'https://two.example/api', sessionId: 's2' });
    expect(heard).toEqual(expected);
  });

  it('rejects an invalid base URL immediately', () => {
    expect(() => attach('test', { [stop]: ignore }, { baseUrl: 'not a url' })).toThrow(/absolute/);
  });

  it('keeps every error of a handler to itself, warns once, and keeps listening', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(ignore);
    const attachment = attach('test', {
      [stop]: () => {
        throw new Error('secret tml-abcdef');
      },
    });
    for (let count = 0; count < 5; count += 1) publishSample(stop);
    attachment.detach();
    expect(attachment.errors).toBe(5);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(JSON.stringify(warn.mock.calls)).not.toContain('tml-');
  });

  it('hands every error to onError, and survives an onError that throws', () => {
    const seen: unknown[] = [];
    const attachment = attach(
      'test',
      {
        [stop]: () => {
          throw new Error('broken');
        },
      },
      {
        onError: (error) => {
          seen.push(error);
          throw new Error('broken too');
        },
      },
    );
    publishSample(stop);
    attachment.detach();
    expect(seen).toHaveLength(1);
    expect(attachment.errors).toBe(2);
  });

  it('lets nothing through a filter that throws', () => {
    const heard: unknown[] = [];
    const options = {
      filter: (): boolean => {
        throw new Error('broken filter');
      },
      onError: ignore,
    };
    const attachment = attach('test', { [stop]: (event) => heard.push(event) }, options);
    publish(stop, samples[stop]());
    attachment.detach();
    expect(heard).toEqual([]);
    expect(attachment.errors).toBe(1);
  });
});
