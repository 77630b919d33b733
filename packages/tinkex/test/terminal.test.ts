import { afterAll, beforeAll, expect, it } from 'vitest';
import { CommandInPty } from './command-in-pty.js';
import { runCommand, temporaryFolder } from './run-command.js';
import { SECRET_KEY, type SeededServer, startSeededServer } from './seeded-server.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let seeded: SeededServer;

beforeAll(async () => {
  folder = await temporaryFolder();
  seeded = await startSeededServer(folder.path);
});

afterAll(async () => {
  await seeded[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

it('draws a table in color that fits the terminal', async () => {
  await using command = new CommandInPty(['checkpoint', 'list'], { env: seeded.env, cwd: folder.path, columns: 100 });
  expect(await command.ends()).toBe(0);
  expect(command.lines[0]).toBe('3 checkpoints');
  expect(command.lines[1]).toMatch(/^╭─+┬.*╮$/);
  expect(command.lines[2]).toMatch(/^│ Checkpoint ID/);
  expect(command.lines.filter((line) => line.startsWith('╰'))).toHaveLength(1);
  expect(command.hasColor).toBe(true);
});

it('has no color with NO_COLOR and with --no-color', async () => {
  await using variable = new CommandInPty(['run', 'list'], { env: { ...seeded.env, NO_COLOR: '1' }, cwd: folder.path });
  await using flag = new CommandInPty(['run', 'list', '--no-color'], { env: seeded.env, cwd: folder.path });
  expect([await variable.ends(), await flag.ends()]).toEqual([0, 0]);
  expect([variable.hasColor, flag.hasColor]).toEqual([false, false]);
});

it('asks before it deletes, and takes no for an answer', async () => {
  await using refused = new CommandInPty(['checkpoint', 'delete', seeded.training], { env: seeded.env, cwd: folder.path });
  await refused.shows(/Delete 1 checkpoint\?/);
  expect(refused.text).toContain('cannot be restored');
  refused.type('n');
  expect(await refused.ends()).toBe(0);
  expect(refused.text).toContain('Nothing was deleted.');
  expect(seeded.server.callsTo('deleteCheckpoint')).toHaveLength(0);
  await using confirmed = new CommandInPty(['checkpoint', 'delete', seeded.training], { env: seeded.env, cwd: folder.path });
  await confirmed.shows(/Delete 1 checkpoint\?/);
  confirmed.type('y');
  expect(await confirmed.ends()).toBe(0);
  expect(confirmed.text).toContain('Deleted 1 checkpoint.');
});

it('reads a key without showing it', async () => {
  const { TINKER_API_KEY: _, ...env } = seeded.env;
  await using login = new CommandInPty(['auth', 'login'], { env, cwd: folder.path });
  await login.shows(/Paste it here/);
  login.type(`${SECRET_KEY}\r`);
  expect(await login.ends()).toBe(0);
  expect(login.text).toContain('Logged in as');
  expect(login.text).not.toContain(SECRET_KEY);
  expect(await runCommand(['auth', 'logout'], { env })).toMatchObject({ code: 0 });
});
