import { subscribe } from '@tinkex/http';
import { VirtualClock } from '@tinkex/testkit';
import { AbortedError, type Checkpoint, ConnectionError, NotFoundError, type TinkexEventName, type TrainingRun } from '@tinkex/types';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RecoveryEvent } from './recovery-event.js';
import { RecoveryMonitor, type RecoveryMonitorOptions } from './recovery-monitor.js';
import { newestTrainingCheckpoint, recoveryStrategy } from './recovery-policy.js';

interface Client {
  readonly path: string;
  readonly hasOptimizer: boolean;
}

const checkpoint = (name: string, time: string, more: Partial<Checkpoint> = {}): Checkpoint =>
  ({
    checkpointId: `weights/${name}`,
    checkpointType: 'training',
    time: new Date(time),
    tinkerPath: `tinker://run/weights/${name}`,
    public: false,
    ...more,
  }) as Checkpoint;

function world(options: Partial<RecoveryMonitorOptions<Client>> = {}) {
  const clock = new VirtualClock();
  const events: RecoveryEvent<Client>[] = [];
  const state = {
    isCorrupted: false,
    looks: 0,
    lookError: undefined as unknown,
    failures: 0,
    checkpoints: [checkpoint('old', '2026-01-01T00:00:00Z'), checkpoint('new', '2026-01-02T00:00:00Z')],
  };
  const source = { clientId: 'client-1', baseUrl: 'https://server.test' };
  const create = async (path: string, hasOptimizer: boolean): Promise<Client> => {
    if (state.failures > 0) {
      state.failures -= 1;
      throw new ConnectionError({ message: 'reset' });
    }
    return { path, hasOptimizer };
  };
  const monitor = new RecoveryMonitor<Client>({
    clock,
    onEvent: (event) => events.push(event),
    records: {
      getTrainingRun: async () => {
        state.looks += 1;
        if (state.lookError !== undefined) throw state.lookError;
        return { corrupted: state.isCorrupted } as TrainingRun;
      },
      listCheckpoints: async function* () {
        yield* state.checkpoints;
      },
    },
    service: {
      createTrainingClientFromState: (path) => create(path, false),
      createTrainingClientFromStateWithOptimizer: (path) => create(path, true),
      eventSource: () => source,
    },
    ...options,
  });
  return { clock, events, monitor, source, state, types: () => events.map(({ type }) => type) };
}

const unsubscribes: (() => void)[] = [];
afterEach(() => {
  for (const unsubscribe of unsubscribes.splice(0)) unsubscribe();
});

/** What is published about recoveries from now on, in order. */
function published(): [string, object][] {
  const seen: [string, object][] = [];
  const kinds = ['broken', 'attempt', 'attempt_failed', 'recovered', 'given_up', 'watch_failed'] as const;
  for (const name of kinds.map((kind): TinkexEventName => `tinkex:recovery:${kind}`)) {
    unsubscribes.push(subscribe(name, (event) => seen.push([name, event])));
  }
  return seen;
}

describe('RecoveryMonitor', () => {
  it.each([0, -1, Number.NaN])('refuses to look every %d ms', (intervalMs) => {
    expect(() => world({ intervalMs })).toThrow('intervalMs must be above 0');
  });

  it('does nothing while the run is well, and restarts it from the newest checkpoint when it breaks', async () => {
    const { clock, events, monitor, state, types } = world();
    monitor.watch('run');
    monitor.watch('run');
    await clock.advance(90_000);
    expect(state.looks).toBe(3);
    expect(events).toEqual([]);
    state.isCorrupted = true;
    await clock.advance(30_000);
    expect(types()).toEqual(['broken', 'attempt', 'recovered']);
    expect(events.at(-1)).toMatchObject({ attempt: 1, client: { path: 'tinker://run/weights/new', hasOptimizer: true } });
    expect(monitor.watched).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('tries again with growing waits, and gives up after the last attempt', async () => {
    const { clock, monitor, state, types } = world({ maxAttempts: 3, backoffMs: 1_000, intervalMs: 1_000 });
    state.isCorrupted = true;
    state.failures = 99;
    monitor.watch('run');
    await clock.advance(1_000);
    expect(types()).toEqual(['broken', 'attempt', 'attempt_failed']);
    await clock.advance(1_000);
    await clock.advance(1_999);
    expect(types().filter((type) => type === 'attempt')).toHaveLength(2);
    await clock.advance(1);
    expect(types().slice(-2)).toEqual(['attempt_failed', 'given_up']);
    expect(monitor.watched).toEqual([]);
  });

  it('recovers on request, without the optimizer if asked to', async () => {
    const { clock, monitor, state } = world({ restoreOptimizer: false });
    state.failures = 1;
    expect(await clock.runUntil(monitor.recover('run'))).toEqual({ path: 'tinker://run/weights/new', hasOptimizer: false });
  });

  it('says so immediately when there is no checkpoint', async () => {
    const { monitor, state } = world();
    state.checkpoints = [];
    await expect(monitor.recover('run')).rejects.toThrow('no checkpoint to continue from');
  });

  it('survives a failed look, and stops when the run is gone', async () => {
    const { clock, monitor, state, types } = world({ intervalMs: 1_000 });
    state.lookError = new ConnectionError({ message: 'reset' });
    monitor.watch('run');
    await clock.advance(2_000);
    expect(types()).toEqual(['watch_failed', 'watch_failed']);
    state.lookError = new NotFoundError({ message: 'gone', status: 404 });
    await clock.advance(1_000);
    expect(types().at(-1)).toBe('given_up');
  });

  it('stops when the client it looks with is closed', async () => {
    const { clock, monitor, state, types } = world({ intervalMs: 1_000 });
    state.lookError = new AbortedError({ message: 'The client was closed' });
    monitor.watch('run');
    await clock.advance(5_000);
    expect([types(), monitor.watched, clock.pending]).toEqual([['given_up'], [], 0]);
  });

  it('publishes what happens, with attempts from 0 and the times things took, and never the client', async () => {
    const { clock, monitor, source, state } = world({ intervalMs: 1_000, backoffMs: 500 });
    const seen = published();
    const about = { ...source, trainingRunId: 'run' };
    const failure = { errorCode: 'TINKEX_CONNECTION', errorName: 'ConnectionError' };
    const path = 'tinker://run/weights/new';
    state.lookError = new ConnectionError({ message: 'reset' });
    monitor.watch('run');
    await clock.advance(1_000);
    state.lookError = undefined;
    state.isCorrupted = true;
    state.failures = 1;
    await clock.advance(1_000);
    await clock.advance(500);
    expect(seen).toEqual([
      ['tinkex:recovery:watch_failed', { ...about, ...failure }],
      ['tinkex:recovery:broken', about],
      ['tinkex:recovery:attempt', { ...about, attempt: 0, path }],
      ['tinkex:recovery:attempt_failed', { ...about, ...failure, attempt: 0, durationMs: 0 }],
      ['tinkex:recovery:attempt', { ...about, attempt: 1, path }],
      ['tinkex:recovery:recovered', { ...about, attempt: 1, path, durationMs: 500 }],
    ]);
  });

  it('publishes that a run was given up, and after how long', async () => {
    const { clock, monitor, source, state } = world({ intervalMs: 1_000, maxAttempts: 2, backoffMs: 700 });
    const seen = published();
    state.isCorrupted = true;
    state.failures = 9;
    monitor.watch('run');
    await clock.advance(1_000);
    await clock.advance(700);
    const failure = { errorCode: 'TINKEX_CONNECTION', errorName: 'ConnectionError' };
    expect(seen.at(-1)).toEqual(['tinkex:recovery:given_up', { ...source, trainingRunId: 'run', ...failure, durationMs: 700 }]);
  });

  it('a callback that throws changes nothing: the run is restarted once, and Node is warned', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const { clock, monitor, state } = world({
      onEvent: () => {
        throw new Error('my bug');
      },
    });
    const seen = published();
    state.isCorrupted = true;
    monitor.watch('run');
    await clock.advance(30_000);
    expect(seen.map(([name]) => name)).toEqual(['tinkex:recovery:broken', 'tinkex:recovery:attempt', 'tinkex:recovery:recovered']);
    expect(warned).toHaveBeenCalledTimes(3);
    warned.mockRestore();
  });

  it('leaves no timer behind when it is closed', async () => {
    const { clock, events, monitor } = world();
    monitor.watch('a');
    monitor.watch('b');
    monitor.close();
    await clock.advance(60_000);
    expect(clock.pending).toBe(0);
    expect(events).toEqual([]);
  });
});

describe('newestTrainingCheckpoint', () => {
  it('ignores sampler weights and expired checkpoints', () => {
    const now = Date.parse('2026-02-01T00:00:00Z');
    const good = checkpoint('good', '2026-01-01T00:00:00Z');
    const all = [
      good,
      checkpoint('sampler', '2026-01-05T00:00:00Z', { checkpointType: 'sampler' }),
      checkpoint('expired', '2026-01-06T00:00:00Z', { expiresAt: new Date(now) }),
    ];
    expect(newestTrainingCheckpoint(all, now)).toBe(good);
    expect(newestTrainingCheckpoint([], now)).toBeUndefined();
  });
});

describe('recoveryStrategy', () => {
  it('doubles its delay up to the maximum, until the last attempt', () => {
    const strategy = recoveryStrategy({ maxAttempts: 9 });
    const delayMs = (failures: number) => strategy({ error: new Error('lost'), failures, elapsedMs: 0, wallMs: 0 });
    expect([0, 1, 2, 7, 8].map(delayMs)).toEqual([5_000, 10_000, 20_000, 60_000, undefined]);
  });
});
