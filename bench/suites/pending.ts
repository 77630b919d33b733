import type { Bench, Benchmark, Contender } from '../measure/benchmark.js';
import { runProgram } from '../measure/run-program.js';

/** The number of connections for polls: the server cannot hold more. */
const MAX_HELD = 2_000;

/** Pending calls: the memory of each, and the CPU of an idle process with many of them. */
export function pendingBenchmarks({ server, python, isQuick, isSurvey }: Bench): Benchmark[] {
  if (isSurvey) return [];
  return [1_000, 10_000].map((calls): Benchmark => {
    const task = { baseUrl: server.url, calls, held: Math.min(calls, MAX_HELD), idleSeconds: isQuick ? 2 : 8 };
    const contenders: Record<string, Contender> = {
      tinkex: { name: '@tinkex/clients', run: () => runProgram('pending', { contender: 'tinkex', ...task }) },
      'tinkex-one': {
        name: '@tinkex/clients, one pending',
        run: () => runProgram('pending', { contender: 'tinkex', ...task, calls: 1, held: 1 }),
      },
      undici: { name: 'raw undici', run: () => runProgram('pending', { contender: 'undici', ...task }) },
    };
    if (python !== undefined && calls === 1_000) {
      contenders['python'] = { name: 'Python SDK', run: () => python({ work: 'pending', ...task }) };
    }
    return {
      id: `pending-${calls}`,
      title: `${calls} samples pending, idle`,
      contenders,
      comparisons: [
        // What the SDK adds to what the requests themselves hold.
        { metric: 'bytesPerCall', of: 'tinkex', against: 'undici', as: 'difference', goal: { atMost: 4_096 } },
        { metric: 'idleCpuPercent', of: 'tinkex', goal: { atMost: 1 } },
        // The CPU of an idle process must not grow with the number of pending calls.
        { metric: 'idleCpuPercent', of: 'tinkex', against: 'tinkex-one', goal: { atMost: 2 } },
        { metric: 'idleCpuPercent', of: 'tinkex', against: 'undici' },
        { metric: 'idleCpuPercent', of: 'tinkex', against: 'python' },
        { metric: 'peakRssBytes', of: 'tinkex', against: 'python', goal: { atMost: 1 / 2 } },
      ],
    };
  });
}
