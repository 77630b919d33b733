/**
 * Runs many samplers and a training loop under chaos for a long time, and requires that heap, sockets, timers and handles stay flat.
 *
 *   pnpm soak                          ten minutes, 1,000 samplers
 *   pnpm soak --seconds=60             a short one
 *   pnpm soak --samplers=100 --out=temp/soak.svg
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { verdict } from '../gates/verdict.js';
import { root } from '../packages.mjs';
import { growth } from './flatness.js';
import { type Load, startLoad } from './load.js';
import { type Measurement, measure } from './measure.js';
import { plot } from './plot.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    samplers: { type: 'string', default: '1000' },
    out: { type: 'string', default: join('temp', 'soak.svg') },
    serve: { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds);
const samplers = Number(values.samplers);
/** As many as a picture can show; a collection every moment would be the load. */
const intervalMs = Math.max(500, (seconds * 1000) / 240);

if (values.serve) {
  const { serveSoak } = await import('./server.js');
  await serveSoak();
} else {
  await soak();
}

async function soak(): Promise<void> {
  const server = spawn(process.execPath, ['--conditions=@tinkex/source', '--import', 'tsx', fileURLToPath(import.meta.url), '--serve'], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const problems: string[] = [];
  const clientOptions = JSON.parse(await firstLine(server.stdout)) as { baseUrl: string; apiKey: string };
  const load = await startLoad(clientOptions, samplers);
  const measurements = await watch(load);
  await load.stop();
  problems.push(...growth(measurements), ...(await leftBehind()));
  if (load.counts.samples === 0 || load.counts.steps === 0) problems.push('there was no load: nothing was sampled or trained');
  for (const [code, count] of load.counts.failures) problems.push(`${count} calls failed with ${code} in spite of their retries`);
  server.stdin.end();
  const [code] = (await once(server, 'exit')) as [number | null];
  if (code !== 0) problems.push(`the server ended with ${code}: it has complaints`);
  const title = `${samplers} samplers and training under chaos, ${seconds} s: ${load.counts.samples} samples, ${load.counts.steps} steps`;
  const out = join(root, values.out);
  await mkdir(dirname(out), { recursive: true });
  await writeFile(out, plot(measurements, title));
  console.log(`plot: ${values.out}`);
  verdict('soak', title, problems);
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

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  const lines = createInterface({ input: stream });
  const [line] = (await once(lines, 'line')) as [string];
  lines.close();
  return line;
}
