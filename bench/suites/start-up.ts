import type { Bench, Benchmark, Contender } from '../measure/benchmark.js';
import { runProgram } from '../measure/run-program.js';

/** How long the command takes until it has said something, against Node itself. */
export function startUpBenchmarks(_bench: Bench): Benchmark[] {
  const start = (name: string, args: readonly string[]): Contender => ({ name, run: () => runProgram('start-up', { args }) });
  return [
    {
      id: 'start-up',
      title: 'Start of the command line',
      contenders: {
        node: start('Node with an empty module', []),
        help: start('tinkex --help', ['--help']),
        version: start('tinkex version', ['version']),
      },
      comparisons: [
        { metric: 'cpuMs', of: 'help', against: 'node', goal: { atMost: 1.5 } },
        { metric: 'cpuMs', of: 'version', against: 'node', goal: { atMost: 1.5 } },
      ],
    },
  ];
}
