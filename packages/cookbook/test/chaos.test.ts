import { join } from 'node:path';
import { ServiceClient } from '@tinkex/clients';
import type { TrainingRun } from '@tinkex/cookbook';
import { readRun } from '@tinkex/telemetry/runs';
import { type ChaosKind, createTestServer, memoryTransport, VirtualClock } from '@tinkex/testkit';
import { describe, expect, it } from 'vitest';
import { rig } from './support/rig.js';
import { LOOPS, type Loop, trainSmall } from './support/small-runs.js';

const setup = rig();
const SEEDS = Number(process.env.TINKEX_CHAOS_SEEDS ?? 2);
const KINDS: readonly ChaosKind[] = ['reset', 'close', 'truncate', 'status-500', 'status-503', 'status-429', 'status-408'];

/** Trains on a virtual clock that skips every backoff. */
async function trainUnderFaults(loop: Loop, seed: number | undefined): Promise<{ readonly run: TrainingRun; readonly faults: number }> {
  const server = createTestServer();
  const chaos = seed === undefined ? undefined : server.chaos({ seed, rate: 0.15, kinds: KINDS, maxFaultsPerOperation: 2 });
  const clock = new VirtualClock();
  const service = new ServiceClient({
    ...server.clientOptions,
    transport: memoryTransport(server),
    clock,
    random: () => 0.5,
    telemetry: false,
  });
  try {
    const work = trainSmall(loop, service, join(setup.folder, `${loop}-${seed}`));
    return { run: await skipBackoffs(clock, work), faults: chaos?.faults ?? 0 };
  } finally {
    await service.close();
    await server.close();
  }
}

async function skipBackoffs<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isSettled = false;
  const settled = work.finally(() => {
    isSettled = true;
  });
  settled.catch(() => undefined);
  while (!isSettled) {
    for (let turn = 0; turn < 12; turn++) await new Promise((resolve) => setImmediate(resolve));
    // Longer waits are deadlines of requests, which are being answered.
    if (!isSettled && (clock.nextInMs ?? Number.POSITIVE_INFINITY) < 20_000) await clock.advance(clock.nextInMs as number);
  }
  return settled;
}

describe('training under faults', () => {
  it.each(LOOPS)('by %s gives the metrics and checkpoints of the run without', async (loop) => {
    const outcome = async ({ logPath }: TrainingRun) => {
      const { metrics, checkpoints } = await readRun(logPath);
      const isTimed = (name: string) => name.startsWith('time/') || name === 'batch_time';
      const numbers = metrics.map((record) => Object.fromEntries(Object.entries(record).filter(([name]) => !isTimed(name))));
      return { numbers, names: checkpoints.map(({ name, epoch, batch }) => [name, epoch, batch]) };
    };
    const calm = await outcome((await trainUnderFaults(loop, undefined)).run);
    let struck = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { run, faults } = await trainUnderFaults(loop, seed);
      struck += faults;
      expect(await outcome(run), `seed ${seed}`).toEqual(calm);
    }
    expect(struck).toBeGreaterThan(0);
  });
});
