import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '@tinkex/types';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readEnvironment } from './environment.js';

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'tinkex-home-'));
});

afterEach(() => rm(home, { recursive: true }));

it('reads the credentials file below the home directory, which may be missing', async () => {
  expect(readEnvironment({ HOME: home }).readCredentialsFile()).toBeUndefined();
  expect(readEnvironment({}).readCredentialsFile()).toBeUndefined();
  await mkdir(join(home, '.tinker'));
  await writeFile(join(home, '.tinker', 'credentials.json'), '{}');
  expect(readEnvironment({ HOME: home }).readCredentialsFile()).toBe('{}');
  expect(readEnvironment({ HOME: '', USERPROFILE: home }).readCredentialsFile()).toBe('{}');
});

it('names a credentials file that cannot be read', async () => {
  await mkdir(join(home, '.tinker', 'credentials.json'), { recursive: true });
  expect(() => readEnvironment({ HOME: home }).readCredentialsFile()).toThrow(ConfigurationError);
});
