import type { Bench, Benchmark, Contender } from '../measure/benchmark.js';
import { runProgram } from '../measure/run-program.js';

/** What it costs to watch a program, and how soon its page can be used. */
export function inspectorBenchmarks({ server, isQuick, isSurvey, browser }: Bench): Benchmark[] {
  if (isSurvey) return [];
  const turns = isQuick ? 5 : 20;
  const watched = (work: string, name: string, count: number): Contender => ({
    name,
    run: () => runProgram('inspector', { work, baseUrl: server.url, turns, count }),
  });
  const overhead = (id: string, title: string, contender: Contender): Benchmark => ({
    id,
    title,
    contenders: { watched: contender },
    comparisons: [{ metric: 'cpuRatio', of: 'watched', as: 'ratio', goal: { atMost: 1.03 } }],
  });
  return [
    {
      ...overhead(
        'inspector-training',
        'A training loop with an inspector, as a ratio to the same loop without one',
        watched('training', 'steps of 64 x 512 tokens', isQuick ? 20 : 50),
      ),
      prepare: () => server.setPassResult(64, 512),
    },
    overhead(
      'inspector-sampling',
      '1,000 samples in flight with an inspector, as a ratio to the same calls without one',
      watched('sampling', 'small samples', isQuick ? 3_000 : 10_000),
    ),
    {
      id: 'inspector-events',
      title: 'An inspector that takes 1,000,000 events: what its memory grows by in the last nine tenths',
      contenders: { recorder: { name: '@tinkex/inspector', run: () => runProgram('inspector-events', { events: 1_000_000 }) } },
      comparisons: [
        { metric: 'grownMegabytes', of: 'recorder', goal: { atMost: 2 } },
        { metric: 'diskMegabytes', of: 'recorder', goal: { atMost: 128 } },
        { metric: 'cpuMicrosPerEvent', of: 'recorder' },
      ],
    },
    ...(browser === undefined ? [] : [pageBenchmark(browser)]),
  ];
}

function pageBenchmark(executablePath: string): Benchmark {
  return {
    id: 'inspector-page',
    title: 'From the address to a page that can be used, on a run of 100,000 steps',
    contenders: { page: { name: '@tinkex/inspector', run: () => runProgram('inspector-page', { steps: 100_000, executablePath }) } },
    comparisons: [{ metric: 'interactiveMs', of: 'page', goal: { atMost: 1_000 } }],
  };
}
