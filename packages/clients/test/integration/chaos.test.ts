import { startServer, VirtualClock } from '@tinkex/testkit';
import { describe, expect, it } from 'vitest';
import { ServiceClient } from '../../src/index.js';
import { closeAfter, driveThroughDeadlines } from '../support/chaos-drive.js';
import { type ChaosOutcome, runUnderChaos, survivableKinds } from '../support/chaos-run.js';

const DEFAULT_SEEDS = 10;
const CONCURRENT_RUNS = 6;

/** `TINKEX_CHAOS_SEED=7` replays one; `TINKEX_CHAOS_SEEDS=200` runs the first 200, `TINKEX_CHAOS_SEEDS=201-400` the next. */
function seeds(): number[] {
  const { TINKEX_CHAOS_SEED: one, TINKEX_CHAOS_SEEDS: many } = process.env;
  if (one !== undefined) return [Number(one)];
  // A count alone starts with the first seed.
  const [last = DEFAULT_SEEDS, first = 1] = many?.split('-').map(Number).toReversed() ?? [];
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Only for what the virtual clock cannot end. A seed takes half a second of a free processor, and many times that on a busy machine. */
const LIMIT_MS = 60_000 + seeds().length * 15_000;

const replay = (seed: number): string =>
  `replay with: TINKEX_CHAOS_SEED=${seed} node_modules/.bin/vitest run --root packages/clients test/integration/chaos.test.ts`;

describe('C.4 chaos', { timeout: LIMIT_MS }, () => {
  it('C.4 every run under faults ends like the run without: weights, losses, samples; each operation once; nothing left behind', async () => {
    const calm = await runUnderChaos({});
    expect(calm.faults).toEqual({});
    expect(calm.leftBehind).toEqual([]);
    expect(new Set(calm.outcome.executed).size).toBe(calm.outcome.executed.length);
    const struck: Record<string, number> = {};
    const struckRoutes = new Set<unknown>();
    await eachOf(seeds(), async (seed) => {
      const run = await runUnderChaos({ seed }).catch((error: unknown) => {
        throw new Error(`seed ${seed} failed; ${replay(seed)}`, { cause: error });
      });
      expect(run.leftBehind, replay(seed)).toEqual([]);
      expectSame(run.outcome, calm.outcome, seed);
      for (const route of run.struckRoutes) struckRoutes.add(route);
      for (const [kind, count] of Object.entries(run.faults)) struck[kind] = (struck[kind] ?? 0) + count;
    });
    if (seeds().length >= DEFAULT_SEEDS) expect([...struckRoutes]).toEqual(expect.arrayContaining(['retrieveFutures', 'cancelFuture']));
    if (seeds().length >= DEFAULT_SEEDS) expect(Object.keys(struck).sort()).toEqual([...survivableKinds, 'status-410'].sort());
  });

  it('reports the failure of a run even if closing meets a fault', async () => {
    const failure = new Error('the run failed');
    const server = await startServer();
    const clock = new VirtualClock();
    const service = new ServiceClient({ ...server.clientOptions, clock, telemetry: false });
    server.on('finishSession').reply(503, { detail: 'busy' }).once();
    const failed = closeAfter({ clock, server, service }, async () => {
      await service.createSamplingClient({ baseModel: 'tinkex/tiny' });
      throw failure;
    });
    await expect(failed).rejects.toBe(failure);
    expect(server.count('finishSession')).toBe(2);
  });

  it('ends a run that is stuck and shows its latest calls', async () => {
    await using server = await startServer();
    const clock = new VirtualClock();
    const tick = (): unknown => clock.setTimeout(tick, 1_800_000);
    tick();
    await expect(driveThroughDeadlines(clock, server, new Promise(() => undefined))).rejects.toThrow(
      'The run is stuck. 0 calls in flight.',
    );
  });
});

/** A few at the same time: a run waits for real resets and slow answers now and then, and another can use the time. */
async function eachOf(all: readonly number[], work: (seed: number) => Promise<void>): Promise<void> {
  const left = [...all];
  const worker = async (): Promise<void> => {
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) await work(seed);
  };
  await Promise.all(Array.from({ length: CONCURRENT_RUNS }, worker));
}

function expectSame(actual: ChaosOutcome, expected: ChaosOutcome, seed: number): void {
  expect(actual.executed, replay(seed)).toEqual(expected.executed);
  expect(actual.losses, replay(seed)).toEqual(expected.losses);
  expect(actual.stepMetrics, replay(seed)).toEqual(expected.stepMetrics);
  expect(actual.samples, replay(seed)).toEqual(expected.samples);
  expect(actual.checkpoints, replay(seed)).toEqual(expected.checkpoints);
  expect(actual.finishes, replay(seed)).toEqual(['success']);
}
