import { describe, expect, it } from 'vitest';
import { command } from '../gates/command.js';
import { nearestName } from './nearest-name.mjs';

const start = (...args: string[]) => command(process.execPath, ['scripts/run.mjs', 'start', ...args]);

describe('npm start', () => {
  it('shows its own help, not the help of an example', async () => {
    const { code, stdout } = await start('--', '--help');
    expect(code).toBe(0);
    expect(stdout).toContain('npm start -- <example> [arguments]');
  });

  it('shows the versions of the packages', async () => {
    const { code, stdout } = await start('--version');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^@tinkex\/clients +\d+\.\d+\.\d+/m);
  });
});

describe('a misspelled example', () => {
  it.each([
    ['quickstrat', 'quickstart'],
    ['supervise', 'supervised'],
    ['telemetri', 'telemetry'],
  ])('%s is taken for %s', (typed, meant) => {
    expect(nearestName(typed, ['quickstart', 'rl', 'supervised', 'telemetry'])).toBe(meant);
  });

  it('is not taken for something else altogether', () => {
    expect(nearestName('banana', ['quickstart', 'rl'])).toBeUndefined();
  });
});
