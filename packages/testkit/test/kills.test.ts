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
/** How long a life may last. A life has fewer calls than the reference has steps. */
const MAX_LIFE_MS = 1_200;

async function serve(stateDir: string): Promise<{ readonly command: Command; readonly client: RawClient }> {
  const command = new Command('serve', '--port', '0', '--dialect', 'json', '--no-log', '--state', stateDir, '--durability', 'strict');
  const [, url = ''] = await command.seen(/export TINKER_BASE_URL=(\S+)/);
  return { command, client: new RawClient({ url, apiKey: 'tml-test-key' }) };
}

/** A life that ends by SIGKILL. Returns what was acknowledged in it. */
async function killedLife(stateDir: string, lifeMs: number): Promise<Acknowledged> {
  const { command, client } = await serve(stateDir);
  const life = new DurableLife(client);
  const kill = setTimeout(() => command.child.kill('SIGKILL'), lifeMs);
  try {
    await life.begin();
    for (let turn = 0; turn < 120; turn++) await life.act(turn);
    throw new Error('The life ended before the kill.');
  } catch (error) {
    if (!command.child.killed) throw error;
  } finally {
    clearTimeout(kill);
    await client.close();
  }
  await command.exited();
  return life.acknowledged;
}

it(`loses nothing acknowledged in ${KILLS} kills, seed ${SEED}, and clients go on`, { timeout: KILLS * 20_000 + 60_000 }, async () => {
  const reference = await referenceLosses();
  let state = SEED;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const wrong: string[] = [];
  const counted = { steps: 0, checkpoints: 0, open: 0 };
  for (let kill = 0; kill < KILLS; kill++) {
    const stateDir = await mkdtemp(join(tmpdir(), 'testkit-kill-'));
    const known = await killedLife(stateDir, random() * MAX_LIFE_MS);
    const { command, client } = await serve(stateDir);
    try {
      for (const text of await brokenPromises(client, known, reference)) wrong.push(`kill ${kill}: ${text}`);
    } finally {
      await client.close();
      command.child.kill('SIGKILL');
      await command.exited();
      await rm(stateDir, { recursive: true, force: true });
    }
    counted.steps += known.steps;
    counted.checkpoints += known.checkpoints.size;
    counted.open += known.open === undefined ? 0 : 1;
  }
  if (KILLS > 10) console.log(JSON.stringify({ kills: KILLS, wrong: wrong.length, ...counted }));
  expect(wrong).toEqual([]);
});
