import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProcessContext } from '../src/commands/command-context.js';
import { createProgram } from '../src/program.js';
import { COMMAND_LINES, type CommandLine, type CommandProject, HUB_TOKEN, openCommandProject } from './command-lines.js';
import { runCommand, shapeOf } from './run-command.js';
import { runHere } from './run-here.js';
import { SECRET_KEY } from './seeded-server.js';

/** Commands that take no notice of `--json`: they talk, serve or print a script. */
const NO_JSON = /^(chat|completion|serve|gateway|inspect|checkpoint (publish|unpublish|set-ttl))/;

let project: CommandProject;

beforeAll(async () => {
  project = await openCommandProject();
});

afterAll(() => project[Symbol.asyncDispose]());

it('has a call of every command', async () => {
  const names: string[] = [];
  const walk = (command: Command, path: readonly string[]): void => {
    if (command.commands.length === 0) names.push(path.join(' '));
    for (const each of command.commands) walk(each, [...path, each.name()]);
  };
  walk(await createProgram({} as ProcessContext, ['completion']), []);
  const isCalled = (name: string): boolean => COMMAND_LINES.some(({ line }) => line === name || line.startsWith(`${name} `));
  expect(names.filter((name) => !isCalled(name))).toEqual([]);
});

describe('in a process with pipes', () => {
  it.each(COMMAND_LINES)('tinkex $line writes plain text', async (one) => {
    const { input, stopAt } = one;
    const result = await runCommand(project.words(one, 'pipe'), { env: project.env(one), cwd: project.path, input, stopAt });
    const text = textOf(result, one);
    expect(text).not.toContain('\u001b');
    expect(result.stdout).not.toMatch(/[╭│╰]/);
  });
});

describe('for programs', () => {
  it.each(COMMAND_LINES.filter(({ line }) => !NO_JSON.test(line)))('tinkex $line --json has a stable shape', async (one) => {
    const { input, stopAt } = one;
    const result = await runHere([...project.words(one, 'json'), '--json'], { env: project.env(one), cwd: project.path, input, stopAt });
    textOf(result, one);
    const json: unknown = JSON.parse(result.stdout);
    expect(one.isFree === true ? keysOf(json) : shapeOf(json)).toMatchSnapshot();
  });
});

/** Everything that a command wrote, once it ended as it must and kept what is secret. */
function textOf({ stdout, stderr, code }: Awaited<ReturnType<typeof runCommand>>, { code: expected = 0 }: CommandLine): string {
  const text = stdout + stderr;
  expect(text).not.toContain(SECRET_KEY);
  expect(text).not.toContain(HUB_TOKEN);
  expect(code, text).toBe(expected);
  return text;
}

/** The names of the fields, for what has other values each time. */
function keysOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(keysOf);
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, name === 'metrics' ? 'METRICS' : keysOf(each)]));
}
