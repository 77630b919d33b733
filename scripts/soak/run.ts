/**
 * Runs many samplers and a training loop under chaos for a long time, and requires that heap, sockets, timers and handles stay flat. Meanwhile
 * the wall clock of the client jumps by hours, and the server freezes, is killed and comes back from its state folder.
 *
 *   pnpm soak                          ten minutes, 1,000 samplers
 *   pnpm soak --seconds=60             a short one
 *   pnpm soak --samplers=100 --out=temp/soak.svg
 *   pnpm soak --calm                   without jumps, pauses and restarts
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { verdict } from '../gates/verdict.js';
import { root } from '../packages.mjs';
import { growth } from './flatness.js';
import { type Load, startLoad } from './load.js';
import { type Measurement, measure } from './measure.js';
import { plot } from './plot.js';
import { ServerProcess } from './server-process.js';
import { JumpingClock, startTroubles, type TroubleCounts } from './troubles.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    samplers: { type: 'string', default: '1000' },
    out: { type: 'string', default: join('temp', 'soak.svg') },
    calm: { type: 'boolean', default: false },
    serve: { type: 'boolean', default: false },
    state: { type: 'string', default: '' },
    port: { type: 'string', default: '0' },
  },
});
const seconds = Number(values.seconds);
const samplers = Number(values.samplers);
/** As many as a picture can show; a collection every moment would be the load. */
const intervalMs = Math.max(500, (seconds * 1000) / 240);
/** Some sixteen troubles in a run of ten minutes; at least a moment between two. */
const troubleIntervalMs = Math.max(4_000, (seconds * 1000) / 17);
/** A restart may lose the promises that were being worked on: a pass, its step and a save. The client reports them, and the training loop continues. */
const LOST_PER_RESTART = 3;

if (values.serve) {
  const { serveSoak } = await import('./server.js');
  await serveSoak(values.state, Number(values.port));
} else {
  await soak();
}

async function soak(): Promise<void> {
  const server = await ServerProcess.start(fileURLToPath(import.meta.url));
  const clock = new JumpingClock();
  const problems: string[] = [];
  const load = await startLoad({ ...server.reached, clock }, samplers);
  const troubles = values.calm ? undefined : startTroubles(server, clock, troubleIntervalMs);
  const measurements = await watch(load);
  await troubles?.stop();
  await load.stop();
  problems.push(...growth(measurements), ...(await leftBehind()));
  if (load.counts.samples === 0 || load.counts.steps === 0) problems.push('there was no load: nothing was sampled or trained');
  problems.push(...unexpectedFailures(load, troubles?.counts));
  const code = await server.stop();
  if (code !== 0) problems.push(`the server ended with ${code}: it has complaints`);
  const struck = Object.entries(troubles?.counts ?? {}).map(([name, count]) => `, ${count} ${name}`);
  const done = `${load.counts.samples} samples, ${load.counts.steps} steps${struck.join('')}`;
  const title = `${samplers} samplers and training under chaos, ${seconds} s: ${done}`;
  const out = join(root, values.out);
  await mkdir(dirname(out), { recursive: true });
  await writeFile(out, plot(measurements, title));
  console.log(`plot: ${values.out}`);
  verdict('soak', title, problems);
}

function unexpectedFailures({ counts: { failures } }: Load, troubles: TroubleCounts | undefined): string[] {
  const allowed = new Map([['TINKEX_FUTURE_EXPIRED', (troubles?.restarts ?? 0) * LOST_PER_RESTART]]);
  return [...failures]
    .filter(([code, count]) => count > (allowed.get(code) ?? 0))
    .map(([code, count]) => `${count} calls failed with ${code} in spite of their retries`);
}

async function watch({ counts }: Load): Promise<Measurement[]> {
  const startedAtMs = performance.now();
  const all: Measurement[] = [];
  for (let elapsed = 0; elapsed < seconds; elapsed = (performance.now() - startedAtMs) / 1000) {
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
    const now = measure((performance.now() - startedAtMs) / 1000);
    all.push(now);
    if (all.length % 20 === 0) {
      const { heapMegabytes, sockets, timers, handles } = now;
      console.log(
        `${now.seconds.toFixed(0)} s: heap ${heapMegabytes.toFixed(1)} MB, ${sockets} sockets, ${timers} timers, ${handles} handles, ${counts.samples} samples, ${counts.steps} steps`,
      );
    }
  }
  return all;
}

/** After the client is closed nothing of it may be left; sockets take a moment to be gone. */
async function leftBehind(): Promise<string[]> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    if (measure(0).sockets === 0) return [];
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return [`${measure(0).sockets} sockets are open after close()`];
}
