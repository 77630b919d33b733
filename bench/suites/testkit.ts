import type { Bench, Benchmark, Contender } from '../measure/benchmark.js';
import { runProgram } from '../measure/run-program.js';

/** The test server against bare node:http with the same answers, and the embedded engine against itself. */
export function testkitBenchmarks({ isSurvey }: Bench): Benchmark[] {
  if (isSurvey) return [];
  const pair = (program: string, task: object): Record<string, Contender> => ({
    testkit: { name: '@tinkex/testkit', run: () => runProgram(program, { contender: 'testkit', ...task }) },
    node: { name: 'bare node:http', run: () => runProgram(program, { contender: 'node-http', ...task }) },
  });
  const rate = (inFlight: number, calls: number): Benchmark => ({
    id: `testkit-rate-${inFlight}`,
    title: `Samples served by the testkit, ${inFlight} in flight`,
    contenders: pair('testkit-rate', { inFlight, calls, warmUpCalls: calls }),
    comparisons: [
      { metric: 'callsPerSecond', of: 'testkit', against: 'node', goal: { atLeast: 0.5 } },
      { metric: 'serverCpuMicrosPerCall', of: 'testkit', against: 'node' },
    ],
  });
  const engine = (name: string, work: 'train' | 'sample', datums: number, tokens: number): Contender => ({
    name,
    run: () => runProgram('engine', { work, datums, tokens }),
  });
  return [
    rate(1, 2_000),
    rate(64, 6_000),
    {
      id: 'testkit-start-up',
      title: 'From the start of a process to the first reply',
      contenders: pair('testkit-start-up', {}),
      comparisons: [
        { metric: 'wallMs', of: 'testkit', against: 'node', as: 'difference', goal: { atMost: 150 } },
        { metric: 'cpuMs', of: 'testkit', against: 'node', as: 'difference' },
      ],
    },
    {
      id: 'testkit-pending',
      title: '10,000 futures held by the testkit',
      contenders: { testkit: { name: '@tinkex/testkit', run: () => runProgram('testkit-pending', { promises: 10_000 }) } },
      comparisons: [{ metric: 'residentMegabytes', of: 'testkit', goal: { atMost: 100 } }],
    },
    {
      id: 'engine',
      title: 'The embedded engine: its rate must not drop with the size of the batch',
      contenders: {
        small: engine('train 1 x 256', 'train', 1, 256),
        large: engine('train 64 x 256', 'train', 64, 256),
        long: engine('train 1 x 16,384', 'train', 1, 16_384),
        sampling: engine('sample 8 x 256', 'sample', 8, 256),
      },
      comparisons: [
        { metric: 'tokensPerCpuSecond', of: 'large', against: 'small', goal: { atLeast: 0.8 } },
        { metric: 'tokensPerCpuSecond', of: 'long', against: 'small', goal: { atLeast: 0.8 } },
        { metric: 'tokensPerCpuSecond', of: 'sampling' },
      ],
    },
  ];
}
