import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startFakeHub } from './fake-hub.js';
import { temporaryFolder } from './run-command.js';
import { SECRET_KEY, startSeededServer } from './seeded-server.js';

/** One call of a command. `$mode` stands for how it runs, `$runId` and the like for what the server has. */
export interface CommandLine {
  readonly line: string;
  readonly input?: string;
  /** What a terminal shows when it waits for the input. */
  readonly asks?: RegExp;
  /** What a command that runs until Ctrl-C shows when it is ready. */
  readonly stopAt?: RegExp;
  readonly code?: number;
  /** Whether what it prints differs each time in more than times and addresses. */
  readonly isFree?: boolean;
}

/** One call of every command, in an order in which they work one after the other. */
export const COMMAND_LINES: readonly CommandLine[] = [
  { line: 'version' },
  { line: 'init --data chats.jsonl --model tinkex/tiny --log-path runs/$mode --yes --force' },
  { line: 'train sft --max-steps 1 --learning-rate 0.01', isFree: true },
  { line: 'train rl --data sums.jsonl --config rl.json', isFree: true },
  { line: 'train dpo --config dpo.json', isFree: true },
  { line: 'resume runs/$mode', isFree: true },
  { line: 'sample runs/$mode -p Hi --max-tokens 4', isFree: true },
  { line: 'chat runs/$mode --max-tokens 4 --seed 1', input: 'Hi\n/exit\n', asks: /Talking to/, isFree: true },
  { line: 'render chats.jsonl --model tinkex/tiny' },
  { line: 'data check chats.jsonl --model tinkex/tiny' },
  { line: 'cost estimate chats.jsonl --model tinkex/tiny --price 2' },
  { line: 'auth login', input: `${SECRET_KEY}\n`, asks: /Paste it here/ },
  { line: 'auth status' },
  { line: 'auth whoami' },
  { line: 'auth logout' },
  { line: 'model list' },
  { line: 'model list TINY' },
  { line: 'run list --project seeded' },
  { line: 'run list --project seeded -c id,cost' },
  { line: 'run info $runId' },
  { line: 'run info $runId --cost' },
  { line: 'checkpoint list --run-id $runId' },
  { line: 'checkpoint list --run-id $runId --type sampler' },
  { line: 'checkpoint info $training' },
  { line: 'checkpoint publish $training' },
  { line: 'checkpoint unpublish $training' },
  { line: 'checkpoint set-ttl $training --ttl 7200' },
  { line: 'checkpoint copy $sampler --project elsewhere' },
  { line: 'checkpoint download $external -o weights --force' },
  { line: 'checkpoint push-hf $external --repo me/adapter' },
  { line: 'checkpoint delete --run-id $runId --type external --dry-run' },
  { line: 'checkpoint delete --run-id $runId --before 2000-01-01 --yes' },
  { line: 'session list --limit 1' },
  { line: 'session info $sessionId' },
  { line: 'session search seeded --status client_finished --metadata who=tests' },
  { line: 'session export-trace $sessionId --url-only' },
  { line: 'session export-trace $sessionId -o trace.pftrace' },
  { line: 'sampler info $samplerId' },
  { line: 'billing usage 2020-01-01 2020-01-02' },
  { line: 'billing checkpoint-storage' },
  { line: 'doctor --model tinkex/tiny', isFree: true },
  { line: 'completion bash' },
  { line: 'serve --no-state --port 0 --gateway-port 0', stopAt: /Ctrl-C/, code: 130, isFree: true },
  { line: 'gateway --port 0', stopAt: /Ctrl-C/, code: 130, isFree: true },
  { line: 'inspect runs', stopAt: /Ctrl-C/, code: 130, isFree: true },
];

/** A key of the hub whose text must never appear in what a command writes. */
export const HUB_TOKEN = 'hf_secret_of_the_tests';

const PLACEHOLDERS = ['runId', 'sessionId', 'samplerId', 'training', 'sampler', 'external'] as const;
const SHARED = { model: 'tinkex/tiny', learningRate: 0.01, maxSteps: 1, evalEvery: 0 };

/** A server, a hub, and a folder with data and configurations: what the command lines work on. */
export interface CommandProject extends AsyncDisposable {
  readonly path: string;
  /** The arguments of a command line. */
  words(line: CommandLine, mode: string): string[];
  /** The variables that lead it to the server and the hub. */
  env(line: CommandLine): Record<string, string>;
}

/** Creates one. */
export async function openCommandProject(): Promise<CommandProject> {
  const folder = await temporaryFolder();
  const seeded = await startSeededServer(folder.path, { jwt: { email: 'a@example.com' } });
  const hub = await startFakeHub();
  for (const [name, text] of Object.entries(projectFiles())) await writeFile(join(folder.path, name), text);
  return {
    path: folder.path,
    words: ({ line }, mode) =>
      line.split(' ').map((word) => {
        const name = PLACEHOLDERS.find((each) => word === `$${each}`);
        return name === undefined ? word.replace('$mode', mode) : seeded[name];
      }),
    env({ line }) {
      const { TINKER_API_KEY, ...open } = seeded.env;
      // `auth login` refuses to hide a key of the environment.
      return { ...open, ...(line === 'auth login' ? {} : { TINKER_API_KEY }), HF_TOKEN: HUB_TOKEN, HF_ENDPOINT: hub.url };
    },
    async [Symbol.asyncDispose]() {
      await hub[Symbol.asyncDispose]();
      await seeded[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

function projectFiles(): Record<string, string> {
  const user = (content: string) => ({ role: 'user', content });
  const assistant = (content: string) => ({ role: 'assistant', content });
  const chats = ['Hi', 'Hello'].map((content) => `${JSON.stringify({ messages: [user(content), assistant('Ahoy!')] })}\n`);
  const comparison = { prompt_conversation: [user('Hi')], completion_A: [assistant('Yo')], completion_B: [assistant('No')] };
  const rl = { recipe: 'rl', data: 'sums.jsonl', logPath: 'runs/rl', maxTokens: 4, groupsPerBatch: 1, groupSize: 2, ...SHARED };
  const dpo = { recipe: 'dpo', data: 'pairs.jsonl', logPath: 'runs/dpo', batchSize: 2, ...SHARED };
  return {
    'chats.jsonl': chats.join(''),
    'sums.jsonl': '{"question":"1+1?","answer":"2"}\n',
    'pairs.jsonl': `${JSON.stringify({ comparison, label: 'A' })}\n`.repeat(2),
    'rl.json': JSON.stringify(rl),
    'dpo.json': JSON.stringify(dpo),
  };
}
