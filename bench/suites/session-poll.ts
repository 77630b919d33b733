import type { Bench, Benchmark, Contender } from '../measure/benchmark.js';
import { runProgram } from '../measure/run-program.js';

/** Many samples in flight, each of which takes 5 s: one poll for all of them against one poll each. */
export function sessionPollBenchmarks({ isQuick, isSurvey }: Bench): Benchmark[] {
  if (isSurvey) return [];
  const sampleMs = isQuick ? 1_000 : 5_000;
  return [1_000, 10_000].map((calls): Benchmark => {
    const contender = (name: string, id: string): Contender => ({
      name,
      run: () => runProgram('session-poll', { contender: id, calls, sampleMs }),
    });
    return {
      id: `session-poll-${calls}`,
      title: `${calls} samples of ${sampleMs / 1_000} s in flight`,
      maxRounds: 3,
      contenders: {
        session: contender('@tinkex/clients, one poll per session', 'session'),
        sample: contender('@tinkex/clients, one poll per sample', 'sample'),
        undici: contender('raw undici, one poll per session', 'undici'),
      },
      comparisons: [
        { metric: 'pollsHeld', of: 'session', goal: { atMost: 3 } },
        { metric: 'sockets', of: 'session', goal: { atMost: 64 } },
        // A result is one request either way; the polls of the session come on top.
        { metric: 'requests', of: 'session', against: 'sample', goal: { atMost: 1.02 } },
        { metric: 'cpuUsPerSample', of: 'session', against: 'sample', goal: { atMost: 0.9 } },
        // Half of it is what the process needs before the first sample: docs/decisions/0704.
        { metric: 'peakRssBytes', of: 'session', against: 'sample', goal: { atMost: 0.5 } },
        { metric: 'cpuUsPerSample', of: 'session', against: 'undici' },
        { metric: 'peakRssBytes', of: 'session', against: 'undici' },
      ],
    };
  });
}
