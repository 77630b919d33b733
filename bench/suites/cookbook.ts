import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cookbookEnvironment, NotAvailable } from '../../scripts/conformance/python-environments.js';
import type { Bench, Benchmark, Contender, RunPython } from '../measure/benchmark.js';
import { lastLine, runProgram } from '../measure/run-program.js';
import { withLoopServer } from '../server/with-loop-server.js';

const PYTHON_LOOP = fileURLToPath(new URL('../python/supervised_loop.py', import.meta.url));
const TOKENS = 1_024;
const BATCH_SIZE = 128;
/** What is not the answer: `User: …` and `Assistant: …` around it, a token per byte. */
const OTHER_TOKENS = 40;
const EPISODES = 10_000;

/**
 * Whole training loops: how much they compute while a server takes its time, how much memory many episodes need, and what a step costs against the Python
 * cookbook. The Python cookbook is large, so it takes part only where its benchmark is named and it can be installed.
 */
export function cookbookBenchmarks({ isQuick, isSurvey, pythonCookbook }: Bench): Benchmark[] {
  if (isSurvey) return [];
  const steps = isQuick ? 5 : 20;
  const warmUpSteps = isQuick ? 2 : 10;
  const loop = (name: string, run: RunPython, passMs: number): Contender => ({
    name,
    run: () =>
      withLoopServer({ forwardBackward: passMs }, (server) =>
        withConversations(steps * BATCH_SIZE, (file) => run({ ...server, file, batchSize: BATCH_SIZE, steps, warmUpSteps })),
      ),
  });
  const ours: RunPython = (task) => runProgram('supervised-loop', task);
  const fastLoops: Record<string, Contender> = { tinkex: loop('@tinkex/cookbook', ours, 0) };
  if (pythonCookbook !== undefined) fastLoops['python'] = loop('Python cookbook', pythonCookbook, 0);
  return [
    {
      id: 'supervised-loop',
      title: `A supervised loop of ${BATCH_SIZE} x ${TOKENS} tokens, with a server that takes 1 s for a pass`,
      maxRounds: 3,
      contenders: { tinkex: loop('@tinkex/cookbook', ours, 1_000) },
      comparisons: [{ metric: 'cpuShareOfWall', of: 'tinkex', as: 'ratio', goal: { atMost: 0.05 } }],
    },
    {
      id: 'supervised-loop-python',
      title: `A supervised loop of ${BATCH_SIZE} x ${TOKENS} tokens, with a server that answers immediately`,
      contenders: fastLoops,
      comparisons: [
        { metric: 'cpuMsPerStep', of: 'tinkex', against: 'python', goal: { atMost: 1 / 10 } },
        { metric: 'wallMsPerStep', of: 'tinkex', against: 'python' },
        { metric: 'peakRssBytes', of: 'tinkex', against: 'python', goal: { atMost: 1 / 2 } },
      ],
    },
    {
      id: 'episodes',
      title: `${EPISODES} episodes of 3 turns in one step of a loop, with a server that takes 3 s for a sample`,
      maxRounds: 3,
      contenders: {
        tinkex: {
          name: '@tinkex/cookbook',
          run: () => withLoopServer({ asample: 3_000 }, (server) => runProgram('episodes', { ...server, episodes: EPISODES, turns: 3 })),
        },
      },
      comparisons: [
        { metric: 'peakRssBytes', of: 'tinkex', goal: { atMost: 1.5e9 } },
        { metric: 'concurrentEpisodes', of: 'tinkex', goal: { atLeast: EPISODES } },
        { metric: 'cpuMsPerEpisode', of: 'tinkex' },
      ],
    },
  ];
}

/** The supervised loop of the Python cookbook, or undefined where it cannot run, with a line that says why. */
export async function findPythonCookbook(isWanted: boolean): Promise<RunPython | undefined> {
  if (!isWanted) return undefined;
  try {
    const environment = await cookbookEnvironment();
    return async (task) => {
      const { apiKey } = task as { readonly apiKey: string };
      const variables = { TINKER_API_KEY: apiKey, TINKER_TELEMETRY: '0' };
      const { code, stdout, output } = await environment.run('python', [PYTHON_LOOP, JSON.stringify(task)], variables);
      if (code !== 0) throw new Error(`The Python cookbook failed (exit code ${code})\n${output}`);
      return lastLine(stdout);
    };
  } catch (error) {
    if (!(error instanceof NotAvailable)) throw error;
    console.log(`No comparison with the Python cookbook: ${error.message}`);
    return undefined;
  }
}

/** Writes conversations of equal length to a file that exists while `run` does. */
async function withConversations<Result>(rows: number, run: (file: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'tinkex-bench-'));
  try {
    const file = join(folder, 'conversations.jsonl');
    const sentence = 'The quick brown fox jumps over the lazy dog. ';
    const lines = Array.from({ length: rows }, (_, row) => {
      const question = `What is ${String(row).padStart(6, '0')}?`;
      const answer = sentence.repeat(TOKENS / sentence.length + 1).slice(0, TOKENS - OTHER_TOKENS);
      const messages = [
        { role: 'user', content: question },
        { role: 'assistant', content: answer },
      ];
      return `${JSON.stringify({ messages })}\n`;
    });
    await writeFile(file, lines.join(''));
    return await run(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}
