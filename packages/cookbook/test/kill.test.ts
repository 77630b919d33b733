import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ServiceClient } from '@tinkex/clients';
import type { TrainingRun } from '@tinkex/cookbook';
import { readRun } from '@tinkex/telemetry/runs';
import { startServer } from '@tinkex/testkit';
import { ByteTokenizer, ModelInput } from '@tinkex/types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleSeed } from '../src/rl/sample-seed.js';
import { LOOPS, type Loop, trainSmall } from './support/small-runs.js';

/** Kills per loop: one of one loop here, 100 of each in the weekly workflow. */
const KILLS = Number(process.env.TINKEX_KILLS ?? 1);
const KILLED_LOOPS = process.env.TINKEX_KILLS === undefined ? (['rl'] as const) : LOOPS;
const PROMPT = ModelInput.fromText('Q: nine? A:', new ByteTokenizer());
const PROGRAM = fileURLToPath(new URL('./support/train-program.ts', import.meta.url));

let server: Awaited<ReturnType<typeof startServer>>;
let service: ServiceClient;
let folder: string;
beforeAll(async () => {
  server = await startServer();
  service = new ServiceClient({ baseUrl: server.url, apiKey: server.apiKey, telemetry: false });
  folder = await mkdtemp(join(tmpdir(), 'tinkex-kill-'));
});
afterAll(async () => {
  await service.close();
  await server.close();
  await rm(folder, { recursive: true });
});

async function outcomeOf({ logPath, samplerPath }: TrainingRun) {
  const { metrics, checkpoints } = await readRun(logPath);
  const sampler = await service.createSamplingClient({ modelPath: samplerPath });
  const isTimed = (name: string) => name.startsWith('time/') || name === 'batch_time';
  return {
    metrics: metrics.map((record) => Object.fromEntries(Object.entries(record).filter(([name]) => !isTimed(name)))),
    logprobs: Array.from(await sampler.computeLogprobs(PROMPT)).slice(1),
    names: checkpoints.map(({ name }) => name).filter((name, index, all) => all.indexOf(name) === index),
  };
}

/** Trains in another process, which is killed after some calls to the server. True if it was killed, false if it was done before. */
async function trainAndKill(loop: Loop, logPath: string, afterCalls: number): Promise<boolean> {
  const before = server.calls.length;
  const child = spawn(
    process.execPath,
    ['--conditions=@tinkex/source', '--import', 'tsx', PROGRAM, loop, server.url, server.apiKey, logPath],
    { stdio: 'ignore' },
  );
  const ended = new Promise<boolean>((resolve) => child.once('exit', (_code, signal) => resolve(signal === 'SIGKILL')));
  const watch = setInterval(() => server.calls.length - before >= afterCalls && child.kill('SIGKILL'), 2);
  try {
    return await ended;
  } finally {
    clearInterval(watch);
  }
}

describe('a process that is killed', () => {
  it.each(KILLED_LOOPS)('continues the %s loop as if nothing had happened', async (loop) => {
    const whole = join(folder, `${loop}-whole`);
    const callsBefore = server.calls.length;
    const uninterrupted = await trainSmall(loop, service, whole);
    const calls = server.calls.length - callsBefore;
    const expected = await outcomeOf(uninterrupted);
    let killed = 0;
    for (let index = 0; index < KILLS; index++) {
      const logPath = join(folder, `${loop}-${index}`);
      const afterCalls = 3 + (sampleSeed(index, LOOPS.indexOf(loop)) % (calls - 6));
      killed += Number(await trainAndKill(loop, logPath, afterCalls));
      const run = await trainSmall(loop, service, logPath);
      expect(await outcomeOf(run), `killed after ${afterCalls} calls`).toEqual(expected);
      expect(run.stopReason).toBe('completed');
    }
    expect(killed).toBeGreaterThan(0);
  });
});
