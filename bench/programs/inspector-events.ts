/** The memory of a recorder that takes many events, each about another call. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attachInspector } from '@tinkex/inspector';
import type { TinkexEventName, TinkexEvents } from '@tinkex/types';
import { program } from '../measure/program.js';
import { heldBytes, stopwatch } from '../measure/stopwatch.js';

/** A call publishes that many events. */
const EVENTS_PER_CALL = 4;
/** So often, what waits is written. */
const CALLS_PER_PAUSE = 5_000;

await program(async ({ events }: { readonly events: number }) => {
  const folder = mkdtempSync(join(tmpdir(), 'tinkex-bench-'));
  const listeners = new Map<TinkexEventName, (event: never) => void>();
  const inspector = await attachInspector({
    recordTo: folder,
    log: () => undefined,
    subscribe: (name, listener) => {
      listeners.set(name, listener as (event: never) => void);
      return () => listeners.delete(name);
    },
  });
  const publish = <Name extends TinkexEventName>(name: Name, fields: Partial<TinkexEvents[Name]>): void =>
    listeners.get(name)?.({ clientId: 'c', baseUrl: 'http://server', requestType: 'Sample', ...fields } as never);
  let call = 0;
  const take = async (until: number): Promise<void> => {
    for (; call * EVENTS_PER_CALL < until; call += 1) {
      const requestId = `r${call}`;
      publish('tinkex:http:request:stop', { method: 'POST', path: '/api/v1/asample', requestBytes: 100, responseBytes: 50, status: 200 });
      publish('tinkex:future:poll', { requestId, outcome: 'pending', attempt: 0 });
      publish('tinkex:sampling:call', { samples: 1, promptTokens: 32, sampledTokens: 10 });
      publish('tinkex:future:settled', { requestId, outcome: 'resolved', durationMs: 5, attempt: 1 });
      if (call % CALLS_PER_PAUSE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await take(events / 10);
  const before = heldBytes();
  const stop = stopwatch();
  await take(events);
  const { cpuMs } = stop();
  const grown = heldBytes() - before;
  await inspector.close();
  const files = readdirSync(join(folder, 'events')).map((file) => statSync(join(folder, 'events', file)).size);
  rmSync(folder, { recursive: true });
  return {
    grownMegabytes: grown / 1e6,
    cpuMicrosPerEvent: (cpuMs * 1_000) / (events * 0.9),
    diskMegabytes: files.reduce((sum, size) => sum + size, 0) / 1e6,
  };
});
