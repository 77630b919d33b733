import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { VirtualClock } from '@tinkex/http/testing';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/harness/temporary-folder.js';
import type { EventRecord } from './event-record.js';
import { EventStore, storeFiles } from './event-store.js';
import { PerSecond } from './per-second.js';
import { RecordedEvents } from './recorded-events.js';
import { Ring } from './ring.js';

const metrics = (step: number): EventRecord => ({ kind: 'metrics', atMs: step, modelId: 'm', step, metrics: { loss: step } });

describe('a store of events', () => {
  it('writes what waits in one go, and continues after the files that are there', () => {
    using folder = temporaryFolder();
    const clock = new VirtualClock();
    const store = new EventStore(folder.path, 'history', { clock });
    store.append(metrics(0));
    store.append(metrics(1));
    expect(readdirSync(folder.path)).toEqual([]);
    store.flush();
    expect(readFileSync(join(folder.path, 'history-000001.jsonl'), 'utf8').split('\n')).toHaveLength(3);
    store.close();
    const again = new EventStore(folder.path, 'history', { clock });
    again.append(metrics(2));
    again.close();
    expect(readdirSync(folder.path)).toEqual(['history-000001.jsonl', 'history-000002.jsonl']);
  });

  it('keeps only the newest files, however much is written', () => {
    using folder = temporaryFolder();
    const store = new EventStore(folder.path, 'lately', { clock: new VirtualClock(), maxFileBytes: 2_000, maxFiles: 3 });
    for (let step = 0; step < 5_000; step += 1) {
      store.append(metrics(step));
      if (step % 10 === 0) store.flush();
    }
    store.close();
    const files = storeFiles(folder.path, 'lately');
    expect(files).toHaveLength(3);
    expect(files.reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThanOrEqual(3 * 2_000);
    expect(readFileSync(files.at(-1) ?? '', 'utf8')).toContain('"step":4999');
  });

  it('is read back as it was written, without a line that a crash cut off', async () => {
    using folder = temporaryFolder();
    const store = new EventStore(folder.path, 'history', { clock: new VirtualClock() });
    for (let step = 0; step < 3; step += 1) store.append(metrics(step));
    store.append({ kind: 'later', atMs: 1 } as unknown as EventRecord);
    store.flush();
    const events = new RecordedEvents(folder.path);
    await events.refresh();
    expect(events.recording.models.get('m')?.metrics.steps).toBe(3);
    store.append(metrics(3));
    store.close();
    await events.refresh();
    expect(events.recording.models.get('m')?.metrics.steps).toBe(4);
    expect(events.problems).toEqual([]);
  });
});

describe('a ring', () => {
  it('holds the newest items, and finds those after a number', () => {
    const ring = new Ring<number>(3);
    for (let item = 0; item < 10; item += 1) ring.push(item);
    expect([ring.total, ring.items, ring.since(8), ring.since(0), ring.since(10)]).toEqual([10, [7, 8, 9], [8, 9], [7, 8, 9], []]);
  });
});

describe('a limit per second', () => {
  it('admits that many, counts the others, and starts again', () => {
    const limit = new PerSecond(2);
    expect([0, 1, 2, 1_000].map((atMs) => limit.admits(atMs))).toEqual([true, true, false, true]);
    expect(limit.dropped).toBe(1);
  });
});
