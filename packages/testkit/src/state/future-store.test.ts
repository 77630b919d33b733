import { VirtualClock } from '@tinkex/http/testing';
import { describe, expect, it } from 'vitest';
import { FutureRecord } from './future-record.js';
import { FutureStore } from './future-store.js';

function record(requestId: string): FutureRecord {
  return new FutureRecord(requestId, 'Sample');
}

describe('FutureStore', () => {
  it('keeps pending futures forever and finished ones for the retention time', async () => {
    const clock = new VirtualClock();
    const store = new FutureStore(clock, { retentionMs: 100, maxDeliveredBytes: 1_000 });
    const [pending, finished] = [record('pending'), record('finished')];
    store.add(pending);
    store.add(finished);
    store.settle(finished, { state: 'resolved', value: 1 });
    await clock.advance(100);
    expect(store.find('finished')).toBe('expired');
    expect(store.find('pending')).toBe(pending);
    expect(store.find('never')).toBeUndefined();
    expect(store.size).toBe(1);
  });

  it('drops the oldest delivered results when they take too much room', () => {
    const store = new FutureStore(new VirtualClock(), { retentionMs: 100, maxDeliveredBytes: 1_000 });
    for (const id of ['a', 'b', 'c']) {
      const each = record(id);
      store.add(each);
      store.settle(each, { state: 'resolved', value: id });
      store.delivered(each, 600);
      store.delivered(each, 600);
    }
    expect(['a', 'b', 'c'].map((id) => store.find(id) === 'expired')).toEqual([true, true, false]);
  });

  it('refuses two operations with one future', () => {
    const store = new FutureStore(new VirtualClock(), { retentionMs: 100, maxDeliveredBytes: 1_000 });
    store.add(record('a'));
    expect(() => store.add(record('a'))).toThrow(/already/);
  });
});
