/**
 * Walks the newcomer's path: a fresh home, cold caches, and the commands that "Getting started" shows, copied out of the page and run as they stand. Git
 * resolves the repository's address to this one, npm uses a registry on loopback that has today's packages; nothing else is prepared. `--quick` leaves out `npm test`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishedPackages, root } from '../packages.mjs';
import { startLocalRegistry } from '../release/local-registry.js';
import { newcomerPath } from '../release/newcomer-path.js';
import { Rehearsal } from '../release/rehearsal.js';
import { command, commandOrThrow } from './command.js';
import { temporaryFolder } from './temporary-folder.js';
import { verdict } from './verdict.js';

/** The newcomer's own data. */
const CHATS = [
  ['When do you open?', 'At nine in the morning.'],
  ['Do you ship abroad?', 'Only within the EU.'],
  ['Can I return a gift?', 'Yes, for thirty days.'],
  ['Who founded the shop?', 'Two sisters from Graz.'],
] as const;
const [QUESTION, ANSWER] = CHATS[1];
const TESTS_TIMEOUT_MS = 1_800_000;

/** `npm test` takes longer than all else together. */
const isQuick = process.argv.includes('--quick');
const path = newcomerPath();
const registry = await startLocalRegistry(publishedPackages().map(({ id }) => id));
await (await Rehearsal.prepare(registry)).release();
const home = temporaryFolder('newcomer');
const { stdout: upstream } = await commandOrThrow('npm', ['config', 'get', 'registry']);
const problems: string[] = [];

const repository = emptyFolder('repository');
await commandOrThrow('git', ['config', '--global', `url.${root}.insteadOf`, urlIn(path.repository)], {
  env: homeEnvironment(upstream.trim()),
});
const repositoryCommands = path.repository.filter((typed) => !(isQuick && typed === 'npm test'));
await walk(repositoryCommands, repository, upstream.trim());

const chats = emptyFolder('chats');
writeFileSync(join(chats, 'chats.jsonl'), CHATS.map(([user, assistant]) => line(user, assistant)).join(''));
await walk(path.commandLine, chats, registry.url, { input: `${QUESTION}\n`, expected: ANSWER });

const project = emptyFolder('project');
writeFileSync(join(project, 'first.mts'), path.program);
await walk(path.project, project, registry.url, { expected: 'Practice makes perfect.' });

registry.close();
verdict('newcomer', `${repositoryCommands.length + path.commandLine.length + path.project.length} commands of the page`, problems);

/** Runs the commands in one shell, as typed one after the other. The last one gets the input, and must print what is expected. */
async function walk(
  commands: readonly string[],
  folder: string,
  registryUrl: string,
  { input = '', expected = '' }: { readonly input?: string; readonly expected?: string } = {},
): Promise<void> {
  let directory = folder;
  for (const [index, typed] of commands.entries()) {
    const isLast = index === commands.length - 1;
    const began = performance.now();
    const result = await command('bash', ['-c', `${typed}\ncode=$?; pwd > "$HOME/directory"; exit $code`], {
      cwd: directory,
      env: homeEnvironment(registryUrl),
      input: isLast ? input : '',
      timeoutMs: TESTS_TIMEOUT_MS,
    });
    directory = (await commandOrThrow('cat', [join(home, 'directory')])).stdout.trim();
    console.log(`$ ${typed}: exit code ${result.code} after ${((performance.now() - began) / 1000).toFixed(1)} s`);
    const isExpected = !isLast || result.stdout.includes(expected);
    if (result.code === 0 && isExpected) continue;
    problems.push(`${typed}: exit code ${result.code}${isExpected ? '' : `, without "${expected}"`}\n${result.output.slice(-4_000)}`);
    return;
  }
}

/** Nothing of this user: no caches, no settings, no key, none of the repository's tools. */
function homeEnvironment(registryUrl: string): Record<string, string | undefined> {
  const foreign = Object.keys(process.env).filter((name) => /^(npm_|pnpm_|TINKER_|TINKEX_|XDG_|NODE_|VITEST|CI$)/i.test(name));
  return {
    ...Object.fromEntries(foreign.map((name) => [name, undefined])),
    HOME: home,
    PATH: process.env['PATH']
      ?.split(':')
      .filter((one) => !one.startsWith(root))
      .join(':'),
    TINKEX_NODE_VERSION: undefined,
    npm_config_registry: registryUrl,
  };
}

function emptyFolder(name: string): string {
  const folder = join(home, name);
  mkdirSync(folder);
  return folder;
}

function urlIn(commands: readonly string[]): string {
  return /git clone (\S+)/.exec(commands.join('\n'))?.[1] ?? '';
}

function line(user: string, assistant: string): string {
  const messages = [
    { role: 'user', content: user },
    { role: 'assistant', content: assistant },
  ];
  return `${JSON.stringify({ messages })}\n`;
}
