import { join } from 'node:path';
import { ServiceClient } from '@tinkex/clients';
import { readRun } from '@tinkex/telemetry/runs';
import { type ChaosKind, createTestServer, memoryTransport, VirtualClock } from '@tinkex/testkit';
import { ByteTokenizer, ModelInput } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { rig } from './support/rig.js';
import { LOOPS, type Loop, RL_FORMS, trainSmall } from './support/small-runs.js';

const setup = rig();
const SEEDS = Number(process.env.TINKEX_CHAOS_SEEDS ?? 2);
const CHAOS_LOOPS: readonly Loop[] = [...LOOPS, ...(Object.keys(RL_FORMS) as (keyof typeof RL_FORMS)[])];
const PROMPT = ModelInput.fromText('Q: nine? A:', new ByteTokenizer());
const KINDS: readonly ChaosKind[] = ['reset', 'close', 'truncate', 'status-500', 'status-503', 'status-429', 'status-408'];

/** Trains on a virtual clock that skips every backoff. Gives what must not depend on faults: metrics, checkpoints and the final weights. */
async function trainUnderFaults(loop: Loop, seed: number | undefined) {
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
    const work = async () => {
      const { logPath, samplerPath } = await trainSmall(loop, service, join(setup.folder, `${loop}-${seed}`));
      const sampler = await service.createSamplingClient({ modelPath: samplerPath, retry: true });
      const logprobs = Array.from(await sampler.computeLogprobs(PROMPT)).slice(1);
      return { ...(await readOutcome(logPath)), logprobs };
    };
    return { outcome: await skipBackoffs(clock, work()), faults: chaos?.faults ?? 0 };
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

async function readOutcome(logPath: string) {
  const { metrics, checkpoints } = await readRun(logPath);
  const isTimed = (name: string) => name.startsWith('time/') || name === 'batch_time';
  const numbers = metrics.map((record) => Object.fromEntries(Object.entries(record).filter(([name]) => !isTimed(name))));
  return { numbers, names: checkpoints.map(({ name, epoch, batch }) => [name, epoch, batch]) };
}

describe('training under faults', () => {
  it.each(CHAOS_LOOPS)('by %s gives the metrics, checkpoints and weights of the run without', async (loop) => {
    const { outcome: calm } = await trainUnderFaults(loop, undefined);
    let struck = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { outcome, faults } = await trainUnderFaults(loop, seed);
      struck += faults;
      expect(outcome, `seed ${seed}`).toEqual(calm);
    }
    expect(struck).toBeGreaterThan(0);
    if (!loop.startsWith('rl')) return;
    // No group is lost, and no sample is older than the weights may be.
    expect(calm.numbers.map((record) => record['env/all/total_episodes'])).toEqual([4, 4, 4, 4]);
    const ages = calm.numbers.map((record, step) => step - Number(record['sampling_client/step_min'] ?? step));
    expect(Math.max(...ages)).toBe(loop === 'rl-async' ? 2 : 0);
  });
});
