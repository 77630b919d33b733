import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { readVectors } from '../../../vectors/read.js';
import { matchesGlob } from '../src/hub/match-glob.js';
import { safeRepositoryName } from '../src/hub/repository-name.js';
import { type FakeHub, startFakeHub } from './fake-hub.js';
import { temporaryFolder } from './run-command.js';
import { runHere } from './run-here.js';
import { type SeededServer, startSeededServer } from './seeded-server.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let seeded: SeededServer;
let hub: FakeHub;

beforeAll(async () => {
  folder = await temporaryFolder();
  seeded = await startSeededServer(folder.path);
  hub = await startFakeHub();
});

afterEach(() => {
  hub.clear();
  hub.cards.clear();
});

afterAll(async () => {
  await hub[Symbol.asyncDispose]();
  await seeded[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const push = (args: readonly string[], variables: Readonly<Record<string, string>> = { HF_TOKEN: 'hf_token' }) =>
  runHere(['checkpoint', 'push-hf', ...args], { env: { ...seeded.env, HF_ENDPOINT: hub.url, ...variables }, cwd: folder.path });

const routes = (): string[] => hub.requests.map(({ route }) => route.replace(/\?.*/, ''));

/** The files of the commit, by path. */
function committed(): Record<string, string> {
  const commit = hub.requests.find(({ route }) => route.includes('/commit/'))?.body ?? '';
  const lines = commit.split('\n').filter((line) => line !== '');
  return Object.fromEntries(
    lines
      .map((line) => JSON.parse(line) as { key: string; value: { path: string; content: string } })
      .filter(({ key }) => key === 'file')
      .map(({ value }) => [value.path, Buffer.from(value.content, 'base64').toString('utf8')]),
  );
}

it('pushes to a private repository that is named after the model and the run, on a branch for the checkpoint', async () => {
  const result = await push([seeded.external]);
  expect(result, result.stderr).toMatchObject({ code: 0 });
  const repository = `me/tinker-tiny-${safeRepositoryName(seeded.runId)}`;
  expect(result.stdout).toContain(repository);
  expect(routes()).toContain(`POST /api/models/${repository}/commit/external_weights-files`);
  expect(JSON.parse(hub.requests.find(({ route }) => route.includes('create'))?.body ?? '')).toMatchObject({ visibility: 'private' });
  const files = committed();
  expect(Object.keys(files).sort()).toEqual(['README.md', 'adapter_config.json', 'adapter_model.bin']);
  expect(files['README.md']).toMatch(/^---\nbase_model: tinkex\/tiny\nlibrary_name: peft\n/);
  expect(files['README.md']).toContain(seeded.external);
  expect(JSON.parse(files['adapter_config.json'] ?? '')).toMatchObject({ base_model_name_or_path: 'tinkex/tiny' });
  expect(new Set(hub.requests.map(({ token }) => token))).toEqual(new Set(['Bearer hf_token']));
});

it('takes a repository, a branch, a message, patterns and a pull request', async () => {
  const options = ['--repo', 'them/adapter', '--public', '--revision', 'v2', '--commit-message', 'Second', '--create-pr', '--json'];
  const result = await push([seeded.external, ...options, '--no-model-card', '--allow-pattern', 'adapter_*', '--ignore-pattern', '*.bin']);
  expect(JSON.parse(result.stdout)).toEqual({ checkpoint_path: seeded.external, repo_id: 'them/adapter', revision: 'v2', public: true });
  expect(Object.keys(committed())).toEqual(['adapter_config.json']);
  const commit = hub.requests.find(({ route }) => route.includes('/commit/v2'));
  expect(commit?.route).toContain('create_pr=1');
  expect(commit?.body).toContain('Second');
  expect(routes()).not.toContain('POST /api/models/them/adapter/branch/v2');
});

it('refuses a repository with another checkpoint, and accepts one with this checkpoint', async () => {
  hub.cards.set('me/adapter', 'An adapter of tinker://other:train:0/weights/x.');
  const refused = await push([seeded.external, '--repo', 'me/adapter']);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/tinker:\/\/other:train:0[\s\S]*--repo/) });
  expect(routes().filter((route) => route.startsWith('POST'))).toEqual([]);
  hub.cards.set('me/adapter', `An adapter of ${seeded.external}.`);
  expect(await push([seeded.external, '--repo', 'me/adapter'])).toMatchObject({ code: 0 });
});

it('says what is missing before it downloads anything: a login, or a checkpoint that can be downloaded', async () => {
  const calls = seeded.server.callsTo('externalWeightsUrls').length;
  expect(await push([seeded.external], {})).toMatchObject({ code: 1, stderr: expect.stringMatching(/Not logged in[\s\S]*HF_TOKEN/) });
  expect(await push([seeded.sampler])).toMatchObject({ code: 2, stderr: expect.stringContaining('sampler weights stay') });
  expect(seeded.server.callsTo('externalWeightsUrls')).toHaveLength(calls);
  expect(hub.requests).toEqual([]);
});

it("finds the login of the hub's own command", async () => {
  const file = join(folder.path, 'token');
  await writeFile(file, 'hf_stored\n');
  expect(await push([seeded.external, '--repo', 'me/adapter'], { HF_TOKEN_PATH: file })).toMatchObject({ code: 0 });
  expect(new Set(hub.requests.map(({ token }) => token))).toEqual(new Set(['Bearer hf_stored']));
  expect(await readFile(file, 'utf8')).toBe('hf_stored\n');
  await rm(file);
});

it.each(
  readVectors<{ function: string; value: string }, string>('cli-helpers').filter(({ input }) => input.function === 'sanitize_repo_name'),
)('names a repository: $name', ({ input, expected }) => {
  expect(safeRepositoryName(input.value)).toBe(expected);
});

it.each([
  ['a/b.json', '*.json', true],
  ['a/b.json', 'a/', true],
  ['b.txt', '?.txt', true],
  ['b.txt', '[!b].txt', false],
  ['b+txt', 'b.txt', false],
  ['c1', 'c[0-9]', true],
])('matches %s with %s: %s', (path, pattern, isMatch) => {
  expect(matchesGlob(path, pattern)).toBe(isMatch);
});
