import type { CommandResult } from '../gates/command.js';
import type { PythonEnvironment } from './python-environments.js';

/** What the commands work on. */
export interface CommandSubject {
  readonly modelId: string;
  /** A training checkpoint of it. */
  readonly state: string;
  readonly variables: Readonly<Record<string, string>>;
  /** The variables of a server that exchanges keys for tokens, which `whoami` needs. */
  readonly tokenVariables: Readonly<Record<string, string>>;
}

/** One call of the `tinker` command and what it must do. */
interface Case {
  readonly args: readonly string[];
  /** What the output must contain. */
  readonly shows: string | RegExp;
  /** The exit code. Default 0. */
  readonly code?: number;
  /** Added to those of the subject; `undefined` removes one. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
}

/** Lists the commands of an installed version. */
const LIST_COMMANDS = `
import click
from tinker.cli.__main__ import main_cli

def walk(group, path):
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if isinstance(command, click.Group):
            walk(command, [*path, name])
        else:
            print(" ".join([*path, name]))

walk(main_cli, [])
`;

/**
 * Runs every command of the installed `tinker`, those that change something after those that only read. Returns what went wrong, one text
 * each; a command of the installed version without a case is a problem too.
 */
export async function checkTinkerCommands(environment: PythonEnvironment, subject: CommandSubject): Promise<string[]> {
  const names = await listCommands(environment);
  const problems: string[] = [];
  for (const stage of stagesOf(environment, subject)) {
    const wanted = stage.filter(({ args }) => names.includes(nameOf(args)));
    for (const group of inThrees(wanted))
      problems.push(...(await Promise.all(group.map((one) => check(environment, subject, one)))).flat());
  }
  const covered = new Set(
    stagesOf(environment, subject)
      .flat()
      .map(({ args }) => nameOf(args)),
  );
  for (const name of names.filter((each) => !covered.has(each))) problems.push(`\`tinker ${name}\` has no case`);
  return problems;
}

/** The commands of the installed version: `checkpoint list`. */
export async function listCommands({ run }: PythonEnvironment): Promise<string[]> {
  const { code, stdout, output } = await run('python', ['-c', LIST_COMMANDS], {});
  if (code !== 0) throw new Error(`The commands of tinker cannot be listed.\n${output}`);
  return stdout.trim().split('\n');
}

/** Commands that may run at the same time, stage by stage. */
function stagesOf({ version, home }: PythonEnvironment, { modelId, state, variables, tokenVariables }: CommandSubject): Case[][] {
  const [sessionId = ''] = modelId.split(':');
  const isArchive = isOlderThan(version, [0, 36]);
  const stored = { TINKER_API_KEY: undefined };
  const json = ['--format', 'json'];
  return [
    [
      { args: ['version'], shows: `tinker ${version}` },
      { args: ['model', 'list'], shows: 'tinkex/tiny' },
      { args: ['model', 'list', 'nothing-like-it'], shows: /Error/, code: 1 },
      { args: [...json, 'model', 'list', 'TINY'], shows: '"tinkex/tiny"' },
      { args: ['run', 'list', '--limit', '0'], shows: modelId },
      { args: [...json, 'run', 'list'], shows: 'tinkex/tiny' },
      { args: ['run', 'info', modelId], shows: 'tinkex/tiny' },
      { args: ['run', 'info', 'sess-none:train:0'], shows: /not found/i, code: 1 },
      { args: ['checkpoint', 'list'], shows: 'weights/state-1' },
      { args: [...json, 'checkpoint', 'list', '--run-id', modelId], shows: 'weights/state-1' },
      { args: ['checkpoint', 'info', state], shows: state },
      { args: ['session', 'export-trace', sessionId, '--url-only'], shows: 'http://127.0.0.1' },
      { args: ['session', 'export-trace', sessionId, '-o', `${home}/trace-${version}.pftrace`], shows: sessionId },
      { args: ['billing', 'usage', '2026-01-01', '2026-01-02'], shows: '' },
      { args: [...json, 'billing', 'usage', '2026-01-01', '2026-01-02'], shows: '"sessions"' },
      { args: ['billing', 'checkpoint-storage'], shows: /gigabyte/i },
      { args: ['auth', 'status'], shows: /Tinker accessible: *yes/i },
      { args: [...json, 'auth', 'whoami'], shows: 'tml:organization:', variables: tokenVariables },
      // Needs a login at a hub of models: it must say so, after it has accepted the path.
      { args: ['checkpoint', 'push-hf', state, '--repo', 'nobody/nothing'], shows: 'Error: Not logged in', code: 1 },
    ],
    [
      { args: ['checkpoint', 'publish', state], shows: '' },
      { args: ['auth', 'login'], shows: 'Logged in as', variables: stored, input: `${variables['TINKER_API_KEY']}\n` },
    ],
    [
      { args: [...json, 'checkpoint', 'info', state], shows: '"public": true' },
      { args: ['checkpoint', 'download', state, '-o', `${home}/download-${version}-${Date.now()}`], shows: /(Downloaded|Extracted) to/ },
      { args: ['auth', 'status'], shows: /Credentials available: *yes/i, variables: stored },
    ],
    [
      { args: ['checkpoint', 'unpublish', state], shows: '' },
      { args: ['checkpoint', 'set-ttl', state, '--ttl', '7200'], shows: '' },
      { args: ['auth', 'logout'], shows: 'Removed credential', variables: stored },
    ],
    [
      { args: [...json, 'checkpoint', 'info', state], shows: /"public": false/ },
      { args: ['checkpoint', 'set-ttl', state, '--remove'], shows: '' },
      { args: ['auth', 'logout'], shows: /Error/, code: 1, variables: stored },
      ...(isArchive
        ? []
        : [{ args: ['checkpoint', 'download', state.replace('/weights/', '/sampler_weights/')], shows: /Error/, code: 1 }]),
    ],
    [{ args: [...json, 'checkpoint', 'delete', state, '--yes'], shows: '"deleted_count": 1' }],
  ];
}

async function check({ run }: PythonEnvironment, { variables }: CommandSubject, one: Case): Promise<string[]> {
  const result = await run('tinker', one.args, { COLUMNS: '300', ...variables, ...one.variables }, one.input);
  const { code = 0, shows } = one;
  const isShown = typeof shows === 'string' ? result.output.includes(shows) : shows.test(result.output);
  // The SDK sometimes crashes while Python shuts down, after everything is printed: then there is no code.
  if (isShown && (result.code === code || result.code === null)) return [];
  return [`\`tinker ${one.args.join(' ')}\` must show ${shows} and end with ${code}, but ended with ${endOf(result)}`];
}

function endOf({ code, output }: CommandResult): string {
  return `${code}\n${output.slice(-3_000)}`;
}

/** `checkpoint list` for `--format json checkpoint list --run-id …`. */
export function nameOf(args: readonly string[]): string {
  const words = args[0] === '--format' ? args.slice(2) : args;
  return words[0] === 'version' ? 'version' : words.slice(0, 2).join(' ');
}

function isOlderThan(version: string, [major, minor]: readonly [number, number]): boolean {
  const [first = 0, second = 0] = version.split('.').map(Number);
  return first < major || (first === major && second < minor);
}

function inThrees<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / 3) }, (_, group) => items.slice(3 * group, 3 * group + 3));
}
