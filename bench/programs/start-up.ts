/** Starts Node several times, with the command line or with an empty module, and reports the median CPU time of a start. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { program } from '../measure/program.js';
import { median } from '../measure/statistics.js';

interface Task {
  /** What the command line gets. Empty: an empty module instead of it. */
  readonly args: readonly string[];
}

const STARTS = 15;
/** Beside the entry point of the package stands its command. */
const COMMAND = fileURLToPath(new URL('main.js', import.meta.resolve('tinkex')));
/** Loaded before the module: reports what the whole process has used. */
const METER = `process.on('exit', () => { const { user, system } = process.cpuUsage(); process.stderr.write('cpu ' + (user + system)); });`;

await program(async ({ args }: Task) => {
  const meter = join(tmpdir(), 'tinkex-bench-meter.cjs');
  const empty = join(tmpdir(), 'tinkex-bench-empty.mjs');
  writeFileSync(meter, METER);
  writeFileSync(empty, '');
  const module = args.length === 0 ? empty : COMMAND;
  const times: number[] = [];
  for (let start = -2; start < STARTS; start += 1) {
    const { stderr } = await promisify(execFile)(process.execPath, ['--require', meter, module, ...args]);
    if (start >= 0) times.push(Number(/cpu (\d+)$/.exec(stderr)?.[1]) / 1_000);
  }
  return { cpuMs: median(times) };
});
