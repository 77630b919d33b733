import { join } from 'node:path';
import { ServiceClient } from '@tinkex/clients';
import { type SupervisedRun, trainSupervised } from '@tinkex/cookbook';
import { readRun } from '@tinkex/telemetry/runs';
import { type ChaosKind, createTestServer, memoryTransport, VirtualClock } from '@tinkex/testkit';
import { describe, expect, it } from 'vitest';
import { recordedData, recordedSft } from './support/recorded-sft.js';
import { rig } from './support/rig.js';

const setup = rig();
const SEEDS = Number(process.env.TINKEX_CHAOS_SEEDS ?? 6);
const KINDS: readonly ChaosKind[] = ['reset', 'close', 'truncate', 'status-500', 'status-503', 'status-429', 'status-408'];

/** Trains on a virtual clock that skips every backoff. */
async function trainUnderFaults(seed: number | undefined): Promise<{ readonly run: SupervisedRun; readonly faults: number }> {
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
    const logPath = join(setup.folder, `seed-${seed}`);
    const data = recordedData(recordedSft('sft'));
    const work = trainSupervised({
      service,
      model: 'tinkex/tiny',
      learningRate: 0.02,
      loraRank: 8,
      numEpochs: 2,
      evalEvery: 3,
      saveEvery: 3,
      data,
      logPath,
    });
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

describe('supervised training under faults', () => {
  it('gives the metrics and checkpoints of the run without', async () => {
    const outcome = async ({ logPath }: SupervisedRun) => {
      const { metrics, checkpoints } = await readRun(logPath);
      const numbers = metrics.map((record) => Object.fromEntries(Object.entries(record).filter(([name]) => !name.startsWith('time/'))));
      return { numbers, names: checkpoints.map(({ name, epoch, batch }) => [name, epoch, batch]) };
    };
    const calm = await outcome((await trainUnderFaults(undefined)).run);
    let struck = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { run, faults } = await trainUnderFaults(seed);
      struck += faults;
      expect(await outcome(run), `seed ${seed}`).toEqual(calm);
    }
    expect(struck).toBeGreaterThan(0);
  });
});
