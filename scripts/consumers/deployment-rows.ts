import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../packages.mjs';
import type { Row } from './row.js';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const FREE_PORT = `
import { once } from 'node:events';
import { createServer } from 'node:net';
const probe = createServer().listen(0, '127.0.0.1');
await once(probe, 'listening');
const port = String(probe.address().port);
probe.close();`;

/** Runs what the container would run, without a container: its entry point until its health check passes, then what \`docker stop\` does. */
const RUN_CONTAINER = `${FREE_PORT}
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
const text = readFileSync('Containerfile', 'utf8').replaceAll('\\\\\\n', '').replaceAll('0.0.0.0', '127.0.0.1').replaceAll('8000', port);
const list = (pattern) => JSON.parse(pattern.exec(text)[1]);
const [program, ...args] = list(/^ENTRYPOINT (.*)$/m);
const [node, ...check] = list(/^HEALTHCHECK .*CMD (.*)$/m);
const server = spawn(process.execPath, ['../node_modules/.bin/' + program, ...args, '--engine', 'canned'], { stdio: 'inherit' });
const exited = once(server, 'exit');
let tries = 0;
while (tries < 300 && spawnSync(node, check).status !== 0) tries += 1;
server.kill('SIGTERM');
const [code] = await exited;
console.log(tries < 300 ? 'healthy, then stopped with code ' + code : 'never healthy');`;

/** The step of the action as the runner starts it, with the packed package in place of the registry's, then what a test does with what it leaves behind. */
const RUN_ACTION = `${FREE_PORT}
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { ServiceClient } from '@tinkex/clients';
import { connectTestServer } from '@tinkex/testkit/remote';
const env = {
  ...process.env, PATH: resolve('bin') + delimiter + process.env.PATH, RUNNER_TEMP: resolve('.'), GITHUB_ENV: resolve('env'), GITHUB_OUTPUT: resolve('output'),
  TESTKIT_VERSION: 'latest', TESTKIT_PORT: port, TESTKIT_OPTIONS: '--engine canned --strict',
};
const step = () => spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', 'step.sh'], { env, encoding: 'utf8' });
const first = step();
if (first.status !== 0) throw new Error(first.stdout + first.stderr);
const pid = Number(readFileSync('pid', 'utf8'));
try {
  const second = step();
  if (second.status !== 1 || !second.stdout.includes('EADDRINUSE')) throw new Error('a taken port is not reported: ' + second.status + second.stdout + second.stderr);
  const set = Object.fromEntries(readFileSync('env', 'utf8').trim().split('\\n').map((line) => line.split('=')));
  const service = new ServiceClient({ baseUrl: set.TINKER_BASE_URL, apiKey: set.TINKER_API_KEY });
  const server = connectTestServer({ url: set.TINKEX_TESTKIT_URL, token: set.TINKEX_TESTKIT_TOKEN });
  await server.on('getServerCapabilities').once().reply(429, { retryAfterMs: 1 });
  await service.getServerCapabilities();
  await service.close();
  await server.verify();
  console.log('the action serves ' + (await server.count('getServerCapabilities')) + ' calls; ' + readFileSync('output', 'utf8'));
} finally {
  process.kill(pid);
}`;

/** In place of npx: the packed command, with its process noted. */
const NPX = `#!/bin/sh
shift 2
[ -e pid ] || echo $$ > pid
exec node ../node_modules/@tinkex/testkit/dist/cli/main.js "$@"
`;

/** The container file and the GitHub Action of the testkit, run where there is neither a container tool nor a runner. */
export function deploymentRows(): Row[] {
  return [
    {
      name: 'container file',
      files: { Containerfile: read('packages/testkit/Containerfile'), 'run.mjs': RUN_CONTAINER },
      commands: [['node', 'run.mjs']],
      expected: 'healthy, then stopped with code 0',
    },
    {
      name: 'GitHub Action',
      files: { 'step.sh': stepOf(read('.github/actions/serve/action.yml')), 'bin/npx': NPX, 'run.mjs': RUN_ACTION },
      commands: [
        ['chmod', '+x', 'bin/npx'],
        ['node', 'run.mjs'],
      ],
      expected: 'the action serves 2 calls; url=http://127.0.0.1:',
    },
  ];
}

/** The script of the only step. */
function stepOf(action: string): string {
  const [, script = ''] = /^ {6}run: \|\n((?: {8}.*\n|\n)+)/m.exec(action) ?? [];
  return script.replaceAll(/^ {8}/gm, '');
}
