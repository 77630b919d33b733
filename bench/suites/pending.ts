import { runProgram } from '../measure/run-program.js';
import type { Bench, Contender, Work } from '../measure/work.js';

/** The connections for polls: more cannot be held by the server at once. */
const MAX_HELD = 2_000;

/** Calls that wait: what each holds, and what an idle process with many of them costs. */
export function pendingWorks({ server, python, isQuick }: Bench): Work[] {
  if (isQuick) return [];
  return [1_000, 10_000].map((calls): Work => {
    const task = { baseUrl: server.url, calls, held: Math.min(calls, MAX_HELD), idleSeconds: 8 };
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
        // Beyond what the requests themselves hold. Of ten thousand, most wait for a connection: the limit for those is one object and a timer.
        { metric: 'bytesPerCall', of: 'tinkex', against: 'undici', as: 'difference', goal: { atMost: calls > MAX_HELD ? 4_096 : 8_192 } },
        { metric: 'idleCpuPercent', of: 'tinkex', goal: { atMost: 1 } },
        // Waiting must not cost more because more wait.
        { metric: 'idleCpuPercent', of: 'tinkex', against: 'tinkex-one', goal: { atMost: 2 } },
        { metric: 'idleCpuPercent', of: 'tinkex', against: 'undici' },
        { metric: 'idleCpuPercent', of: 'tinkex', against: 'python' },
        { metric: 'peakRssBytes', of: 'tinkex', against: 'python', goal: { atMost: 1 / 2 } },
      ],
    };
  });
}
