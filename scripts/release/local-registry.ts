import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { commandOrThrow } from '../gates/command.js';
import { installProgram } from '../gates/install-program.js';
import { temporaryFolder } from '../gates/temporary-folder.js';

const START_LIMIT_MS = 120_000;

/** A registry on this machine that has nothing but what a rehearsal publishes, and passes on everything else from the registry that npm uses here. */
export interface LocalRegistry {
  readonly url: string;
  /** The content of an `.npmrc` for projects that install from it or publish to it. */
  readonly npmrc: string;
  /** The newest version of a package; undefined before it is published. */
  latest(id: string): Promise<string | undefined>;
  close(): void;
}

/** Starts Verdaccio on loopback, installing it the first time. It ends with this process at the latest. */
export async function startLocalRegistry(ours: readonly string[]): Promise<LocalRegistry> {
  const program = await installProgram('local-registry', 'scripts/release/registry');
  const { stdout: upstream } = await commandOrThrow('npm', ['config', 'get', 'registry']);
  const folder = temporaryFolder('registry');
  writeFileSync(join(folder, 'config.yaml'), configuration(folder, upstream.trim(), ours));
  const port = await freePort();
  const verdaccio = join(program, 'node_modules/verdaccio/bin/verdaccio');
  const child = spawn(process.execPath, [verdaccio, '--config', 'config.yaml', '--listen', `127.0.0.1:${port}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const close = () => void child.kill('SIGKILL');
  process.once('exit', close);
  const url = `http://127.0.0.1:${port}/`;
  await answers(`${url}-/ping`, () => child.exitCode !== null);
  return {
    url,
    // Publishing needs a token, though any will do.
    npmrc: `registry=${url}\n//127.0.0.1:${port}/:_authToken=rehearsal\n`,
    latest: async (id) => {
      const response = await fetch(`${url}${id.replace('/', '%2f')}`);
      if (response.status === 404) return undefined;
      const { 'dist-tags': tags } = (await response.json()) as { 'dist-tags': Record<string, string> };
      return tags['latest'];
    },
    close,
  };
}

/** Ours never come from upstream, even when a package of that name exists there. */
function configuration(folder: string, upstream: string, ours: readonly string[]): string {
  return JSON.stringify({
    storage: join(folder, 'storage'),
    uplinks: { upstream: { url: upstream, timeout: '60s', maxage: '60m' } },
    packages: {
      ...Object.fromEntries(ours.map((id) => [id, { access: '$all', publish: '$all' }])),
      '**': { access: '$all', proxy: 'upstream' },
    },
    log: { type: 'stdout', format: 'pretty', level: 'fatal' },
    max_body_size: '100mb',
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
      .once('error', reject)
      .listen(0, '127.0.0.1', () => {
        const address = probe.address();
        probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
      });
  });
}

async function answers(url: string, hasEnded: () => boolean): Promise<void> {
  const until = performance.now() + START_LIMIT_MS;
  while (performance.now() < until && !hasEnded()) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(
    hasEnded() ? 'The local registry ended while it started.' : `The local registry did not answer within ${START_LIMIT_MS / 1000} s.`,
  );
}
