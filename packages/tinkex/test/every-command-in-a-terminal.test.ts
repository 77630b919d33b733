import { afterAll, beforeAll, expect, it } from 'vitest';
import { CommandInPty } from './command-in-pty.js';
import { COMMAND_LINES, type CommandProject, HUB_TOKEN, openCommandProject } from './command-lines.js';
import { SECRET_KEY } from './seeded-server.js';

const COLUMNS = 100;

let project: CommandProject;

beforeAll(async () => {
  project = await openCommandProject();
});

afterAll(() => project[Symbol.asyncDispose]());

it.each(COMMAND_LINES)('tinkex $line fits a terminal', async (one) => {
  const { input = '', asks, stopAt, code = 0 } = one;
  await using command = new CommandInPty(project.words(one, 'tty'), { env: project.env(one), cwd: project.path, columns: COLUMNS });
  if (asks !== undefined) {
    await command.shows(asks);
    command.type(input.replaceAll('\n', '\r'));
  }
  if (stopAt !== undefined) {
    await command.shows(stopAt);
    command.type('\u0003');
  }
  expect(await command.ends(), command.text).toBe(code);
  expect(command.text).not.toContain(SECRET_KEY);
  expect(command.text).not.toContain(HUB_TOKEN);
  // A frame that is wider than the terminal would be continued on the next line, without its left side.
  for (const line of command.lines) expect(line).not.toMatch(/^[^╭│├╰].*[╮│┤╯]$/);
});
