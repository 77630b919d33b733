import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * From the start of a process to the first reply of a server in it: the testkit with its engine, against bare Node. In turns, on the
 * build (`pnpm build` first), because a loader of sources would be all that is measured.
 */
const ROUNDS = 9;

const bare = `
import { createServer } from 'node:http';
const server = createServer((request, response) => response.end('{"status":"ok"}'));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = 'http://127.0.0.1:' + server.address().port;
`;
const testkit = `
import { startServer } from '@tinkex/testkit';
const { url } = await startServer();
`;
const firstReply = `
import { get } from 'node:http';
await new Promise((resolve) => get(url + '/api/v1/healthz', (response) => response.resume().on('end', resolve)));
const { user, system } = process.cpuUsage();
process.stdout.write(JSON.stringify({ ms: performance.now(), cpuMs: (user + system) / 1000 }), () => process.exit(0));
`;

function once(script: string): { readonly ms: number; readonly cpuMs: number } {
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const text = execFileSync(process.execPath, ['--input-type=module', '-e', `${script}${firstReply}`], { cwd, encoding: 'utf8' });
  return JSON.parse(text) as { ms: number; cpuMs: number };
}

const runs = { testkit: [] as ReturnType<typeof once>[], bare: [] as ReturnType<typeof once>[] };
for (let round = 0; round < ROUNDS; round++) {
  runs.testkit.push(once(testkit));
  runs.bare.push(once(bare));
}
const median = (values: readonly number[]): number => Math.round([...values].sort((left, right) => left - right)[values.length >> 1] ?? 0);
const rows = (['ms', 'cpuMs'] as const).map((what) => {
  const [ours, theirs] = [median(runs.testkit.map((run) => run[what])), median(runs.bare.map((run) => run[what]))];
  return {
    what: what === 'ms' ? 'time to first reply' : 'CPU to first reply',
    'testkit ms': ours,
    'bare ms': theirs,
    'difference ms': ours - theirs,
  };
});
console.table(rows);
console.log(JSON.stringify({ benchmark: 'testkit/start-up', goal: 'time difference <= 150 ms', rows }));
