import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type CommandResult, command } from '../gates/command.js';
import { root } from '../packages.mjs';
import type { PythonEnvironment } from './python-environments.js';
import type { CommandSubject } from './tinker-commands.js';

const OURS = ['--conditions=@tinkex/source', '--import', 'tsx', join(root, 'packages/tinkex/src/main.ts')];

/** One command that both have, and the fields of its JSON that differ from run to run. */
interface Compared {
  readonly args: readonly string[];
  readonly differs?: readonly string[];
  readonly needsToken?: boolean;
}

/**
 * Runs the same commands with the `tinker` command and with ours against the same server, and compares their JSON. Ours may say more: every field of the reference must
 * be there, with the same value. Returns what differs, one text each.
 */
export async function compareCommands(environment: PythonEnvironment, subject: CommandSubject): Promise<string[]> {
  const problems: string[] = [];
  for (const one of comparedOf(subject, environment.home)) {
    const variables = { ...subject.variables, ...(one.needsToken === true ? subject.tokenVariables : {}) };
    const run = { HOME: environment.home, ...variables };
    const [reference, ours] = await Promise.all([
      environment.run('tinker', ['--format', 'json', ...at(one.args, 'reference')], variables),
      command(process.execPath, [...OURS, ...at(one.args, 'ours'), '--json'], { cwd: root, env: run, timeoutMs: 120_000 }),
    ]);
    problems.push(...differences(reference, ours, one));
  }
  return problems;
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
  if (reference.code !== 0 || ours.code !== 0) {
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
