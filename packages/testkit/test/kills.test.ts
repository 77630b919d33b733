import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Command } from './command.js';
import { type Acknowledged, brokenPromises, DurableLife, referenceLosses } from './durable-life.js';
import { RawClient } from './raw-client.js';

/** `npm run kills` runs 500. */
const KILLS = Number(process.env['TINKEX_KILLS'] ?? 1);
const SEED = Number(process.env['TINKEX_KILL_SEED'] ?? 1);
/** Tenants at the same time: each is in the middle of something else when the kill strikes. */
const LIVES = 3;
/** The kill strikes within that many milliseconds of the first life's call of this number; below 0, while the lives begin. */
const FIRST_CALL = -5;
const LAST_CALL = 90;
const MAX_DELAY_MS = 40;
/** A life that is ahead of the kill waits for it here. The reference has a loss for each step until then. */
const MOST_CALLS = 150;

/** When a kill strikes. Counted in calls, so that a slow machine is killed in the middle of the work too. */
interface Strike {
  readonly call: number;
  readonly delayMs: number;
}

interface Served {
  readonly command: Command;
  readonly clients: readonly RawClient[];
}

async function serve(stateDir: string): Promise<Served> {
  const command = new Command('serve', '--port', '0', '--dialect', 'json', '--no-log', '--state', stateDir, '--durability', 'strict');
  const [, url = ''] = await command.seen(/export TINKER_BASE_URL=(\S+)/);
  const clients = Array.from({ length: LIVES }, (_, index) => new RawClient({ url, apiKey: `tml-test-key-${index}` }));
  return { command, clients };
}

async function stop({ command, clients }: Served): Promise<void> {
  command.child.kill('SIGKILL');
  await command.exited();
  await Promise.all(clients.map((client) => client.close()));
}

/** Lives that end by SIGKILL. Returns what was acknowledged in each. */
async function killedLives(stateDir: string, strike: Strike): Promise<readonly Acknowledged[]> {
  const served = await serve(stateDir);
  const { child } = served.command;
  const strikeSoon = (): unknown => setTimeout(() => child.kill('SIGKILL'), strike.delayMs);
  const lives = served.clients.map((client) => new DurableLife(client));
  const live = async (life: DurableLife, index: number): Promise<void> => {
    try {
      if (index === 0 && strike.call < 0) strikeSoon();
      await life.begin();
      for (let call = 0; call < MOST_CALLS && !child.killed; call++) {
        if (index === 0 && strike.call === call) strikeSoon();
        await life.act(call);
      }
    } catch (error) {
      if (!child.killed) throw error;
    }
  };
  try {
    await Promise.all(lives.map(live));
    await served.command.exited();
  } finally {
    await stop(served);
  }
  return lives.map(({ acknowledged }) => acknowledged);
}

it(`loses nothing acknowledged in ${KILLS} kills, seed ${SEED}, and clients go on`, { timeout: KILLS * 20_000 + 60_000 }, async () => {
  const reference = await referenceLosses();
  let state = SEED;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const wrong: string[] = [];
  const counted = { calls: 0, steps: 0, checkpoints: 0, samples: 0, open: 0 };
  for (let kill = 0; kill < KILLS; kill++) {
    const stateDir = await mkdtemp(join(tmpdir(), 'testkit-kill-'));
    const call = FIRST_CALL + Math.floor(random() * (LAST_CALL - FIRST_CALL + 1));
    const all = await killedLives(stateDir, { call, delayMs: random() * MAX_DELAY_MS });
    const restarted = await serve(stateDir);
    try {
      for (const [index, known] of all.entries()) {
        const broken = await brokenPromises(restarted.clients[index] as RawClient, known, reference);
        wrong.push(...broken.map((text) => `kill ${kill}, life ${index}: ${text}`));
        counted.calls += known.calls;
        counted.steps += known.steps;
        counted.checkpoints += known.checkpoints.size;
        counted.samples += known.samples;
        counted.open += known.open === undefined ? 0 : 1;
      }
    } finally {
      await stop(restarted);
      await rm(stateDir, { recursive: true, force: true });
    }
    if (KILLS > 10 && kill % 50 === 49) console.log(JSON.stringify({ kills: kill + 1, wrong: wrong.length, ...counted }));
  }
  expect(wrong).toEqual([]);
});
