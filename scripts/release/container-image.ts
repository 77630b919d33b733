import { setTimeout as sleep } from 'node:timers/promises';
import { command } from '../gates/command.js';
import { skip } from '../gates/verdict.js';

const IMAGE = 'tinkex-testkit-rehearsal';
const CONTAINER = `${IMAGE}-run`;
const BUILD_TIMEOUT_MS = 600_000;
const HEALTH_CHECKS = 60;

/** Builds the testkit's image from what a registry on this machine has, and runs it until it is healthy. Skipped where Docker does not run. */
export async function containerProblems(registryUrl: string): Promise<string[]> {
  const docker = await command('docker', ['info', '--format', '{{.ServerVersion}}']).catch(() => undefined);
  if (docker?.code !== 0) {
    skip('container image', 'no Docker daemon runs here; check:consumers runs the commands of the container file without one');
    return [];
  }
  const file = 'packages/testkit/Containerfile';
  const args = ['build', '--network', 'host', '--file', file, '--build-arg', `REGISTRY=${registryUrl}`, '--tag', IMAGE, 'packages/testkit'];
  const built = await command('docker', args, { timeoutMs: BUILD_TIMEOUT_MS });
  if (built.code !== 0) return [`the container image cannot be built:\n${built.output}`];
  try {
    const started = await command('docker', ['run', '--detach', '--name', CONTAINER, IMAGE, '--engine', 'canned']);
    if (started.code !== 0) return [`the container does not start:\n${started.output}`];
    for (let check = 0; check < HEALTH_CHECKS; check += 1) {
      const { stdout } = await command('docker', ['inspect', '--format', '{{.State.Health.Status}}', CONTAINER]);
      if (stdout.trim() === 'healthy') return [];
      await sleep(1_000);
    }
    return [`the container does not become healthy:\n${(await command('docker', ['logs', CONTAINER])).output}`];
  } finally {
    await command('docker', ['rm', '--force', CONTAINER]);
    await command('docker', ['image', 'rm', '--force', IMAGE]);
  }
}
