import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type CommandResult, command } from '../gates/command.js';
import { root } from '../packages.mjs';
import type { PythonEnvironment } from './python-environments.js';
import { type CommandSubject, listCommands, nameOf } from './tinker-commands.js';

const OURS = ['--conditions=@tinkex/source', '--import', 'tsx', join(root, 'packages/tinkex/src/main.ts')];

type Variables = Readonly<Record<string, string | undefined>>;

/** One command that both have, and the fields of its JSON that differ from run to run. */
interface Compared {
  readonly args: readonly string[];
  readonly differs?: readonly string[];
  readonly needsToken?: boolean;
}

/** One step of the comparison of what commands change, by either side, and how it must end. */
interface Step {
  readonly side: 'reference' | 'ours';
  readonly args: readonly string[];
  readonly input?: string;
  readonly code?: number;
  /** What its output must contain. */
  readonly shows?: string | RegExp;
}

/**
 * Runs the same commands with the `tinker` command and with ours against the same server, and compares their JSON. Ours may say more: every field of the reference must
 * be there, with the same value. What one side changes, the other sees. Returns what differs, one text each; a command of the reference that is not compared is a difference too.
 */
export async function compareCommands(environment: PythonEnvironment, subject: CommandSubject): Promise<string[]> {
  const problems: string[] = [];
  const compared = comparedOf(subject, environment.home);
  for (const one of compared) {
    const variables = { ...subject.variables, ...(one.needsToken === true ? subject.tokenVariables : {}) };
    const [reference, ours] = await Promise.all([
      environment.run('tinker', ['--format', 'json', ...at(one.args, 'reference')], variables),
      runOurs([...at(one.args, 'ours'), '--json'], environment, variables),
    ]);
    problems.push(...differences(reference, ours, one));
  }
  const steps = stepsOf(subject);
  for (const step of steps) problems.push(...(await take(step, environment, subject)));
  const covered = new Set([...compared, ...steps.filter(({ side }) => side === 'ours')].map(({ args }) => nameOf(args)));
  const names = await listCommands(environment);
  return [...problems, ...names.filter((name) => !covered.has(name)).map((name) => `\`tinker ${name}\` is compared with nothing`)];
}

function runOurs(args: readonly string[], { home }: PythonEnvironment, variables: Variables, input = ''): Promise<CommandResult> {
  return command(process.execPath, [...OURS, ...args], { cwd: root, env: { HOME: home, ...variables }, timeoutMs: 120_000, input });
}

/** Commands without JSON: each side changes something, prints nothing or its own text, and the other side sees it. */
function stepsOf({ state, variables }: CommandSubject): Step[] {
  const both = (args: readonly string[], rest: Omit<Step, 'side' | 'args'> = {}): Step[] => [
    { side: 'reference', args, ...rest },
    { side: 'ours', args, ...rest },
  ];
  const seen = (shows: string | RegExp) => both(['--format', 'json', 'checkpoint', 'info', state], { shows });
  const key = variables['TINKER_API_KEY'];
  return [
    ...both(['version'], { shows: /^(tinker|tinkex) \d/ }),
    { side: 'ours', args: ['checkpoint', 'publish', state], shows: '' },
    ...seen('"public": true'),
    { side: 'reference', args: ['checkpoint', 'unpublish', state] },
    ...seen('"public": false'),
    { side: 'reference', args: ['checkpoint', 'publish', state] },
    { side: 'ours', args: ['checkpoint', 'unpublish', state], shows: '' },
    ...seen('"public": false'),
    { side: 'ours', args: ['checkpoint', 'set-ttl', state, '--ttl', '7200'], shows: '' },
    ...seen(/"expires_at": "\d/),
    { side: 'ours', args: ['checkpoint', 'set-ttl', state, '--remove'], shows: '' },
    ...seen('"expires_at": null'),
    // A key that one side stores is the other's too.
    ...both(['auth', 'logout'], { code: 1 }),
    { side: 'ours', args: ['auth', 'login'], input: `${key}\n`, shows: 'Logged in as' },
    { side: 'reference', args: ['auth', 'status'], shows: /Credentials available: *yes/i },
    // Ours sends a stored key to the hosted service only, so that this server refuses it.
    { side: 'ours', args: ['auth', 'status'], shows: /Credentials available: *yes/i, code: 1 },
    { side: 'reference', args: ['auth', 'logout'], shows: 'Removed' },
    { side: 'reference', args: ['auth', 'login'], input: `${key}\n`, shows: 'Logged in as' },
    { side: 'ours', args: ['auth', 'logout'] },
    ...both(['auth', 'status'], { code: 1 }),
    // Without a login at a hub of models both refuse.
    ...both(['checkpoint', 'push-hf', state, '--repo', 'nobody/nothing'], { code: 1 }),
  ];
}

async function take(
  { side, args, input, code = 0, shows = '' }: Step,
  environment: PythonEnvironment,
  subject: CommandSubject,
): Promise<string[]> {
  const isAuth = args[0] === 'auth';
  const variables = { ...subject.variables, ...(isAuth ? { TINKER_API_KEY: undefined } : {}) };
  const result =
    side === 'ours'
      ? await runOurs(args, environment, variables, input)
      : await environment.run('tinker', args, { COLUMNS: '300', ...variables }, input);
  const isShown = typeof shows === 'string' ? result.output.includes(shows) : shows.test(result.output);
  if (isShown && (result.code === code || result.code === null)) return [];
  return [
    `${side === 'ours' ? 'tinkex' : 'tinker'} ${args.join(' ')} must show ${shows} and end with ${code}, but ended with ${result.code}\n${result.output.slice(-800)}`,
  ];
}

function comparedOf({ modelId, state }: CommandSubject, home: string): Compared[] {
  const [sessionId = ''] = modelId.split(':');
  const hours = ['2026-01-01', '2026-01-02'];
  return [
    { args: ['model', 'list'] },
    { args: ['model', 'list', 'TINY'] },
    { args: ['run', 'list', '--limit', '0'] },
    { args: ['run', 'info', modelId] },
    { args: ['checkpoint', 'list', '--limit', '0'] },
    { args: ['checkpoint', 'list', '--run-id', modelId] },
    { args: ['checkpoint', 'info', state] },
    { args: ['checkpoint', 'download', state, '--force', '-o', `${home}/compared-$side`], differs: ['destination'] },
    { args: ['session', 'export-trace', sessionId, '--url-only'], differs: ['url'] },
    { args: ['session', 'export-trace', sessionId, '-o', `${home}/compared-$side.pftrace`], differs: ['destination', 'file_size_bytes'] },
    { args: ['billing', 'usage', ...hours] },
    { args: ['billing', 'checkpoint-storage'] },
    { args: ['auth', 'whoami'], needsToken: true },
    { args: ['checkpoint', 'delete', 'tinker://nothing:train:0/weights/none', '--yes'], differs: ['error'] },
  ];
}

/** Each side writes its own files. */
function at(args: readonly string[], side: string): string[] {
  return args.map((word) => word.replace('$side', side));
}

function differences(reference: CommandResult, ours: CommandResult, { args, differs = [] }: Compared): string[] {
  const name = args.join(' ');
  // The SDK sometimes crashes while Python shuts down, after everything is printed: then there is no code.
  if ((reference.code ?? 0) !== 0 || ours.code !== 0) {
    return [
      `\`${name}\` ended with ${reference.code} and ours with ${ours.code}\n${reference.output.slice(-800)}\n${ours.output.slice(-800)}`,
    ];
  }
  const [theirs, own] = [reference, ours].map(({ stdout }) => JSON.parse(stdout) as unknown);
  return missing(theirs, own, '', new Set(differs)).map((text) => `\`${name} --json\`: ${text}`);
}

/** What the reference says and ours does not, by the path of the field. */
function missing(theirs: unknown, own: unknown, path: string, ignored: ReadonlySet<string>): string[] {
  if (Array.isArray(theirs)) {
    if (!Array.isArray(own) || own.length !== theirs.length)
      return [`${path || 'the list'} has ${Array.isArray(own) ? own.length : 'no'} items instead of ${theirs.length}`];
    return theirs.flatMap((each, index) => missing(each, own[index], `${path}[${index}]`, ignored));
  }
  if (typeof theirs === 'object' && theirs !== null && typeof own === 'object' && own !== null) {
    return Object.entries(theirs).flatMap(([name, value]) => {
      if (!Object.hasOwn(own, name)) return [`${path}.${name} is missing`];
      return ignored.has(name) ? [] : missing(value, Reflect.get(own, name), `${path}.${name}`, ignored);
    });
  }
  return isDeepStrictEqual(theirs, own) ? [] : [`${path} is ${JSON.stringify(own)} instead of ${JSON.stringify(theirs)}`];
}
