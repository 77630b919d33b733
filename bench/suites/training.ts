import { runProgram } from '../measure/run-program.js';
import type { Bench, Contender, Work } from '../measure/work.js';

/** Data of one chunk of a batch, given the reference's limit of 5 MB a request and 16 bytes a token. */
const DATUMS_A_CHUNK = 305;

interface StepLoad {
  readonly datums: number;
  readonly tokens: number;
  readonly steps: number;
  readonly warmUpSteps: number;
}

/** Training steps with small and with chunked batches, and one large result. */
export function trainingWorks({ server, python, isQuick }: Bench): Work[] {
  if (isQuick) return [];
  const stepWork = (id: string, load: StepLoad, chunkSize: number, hasPython: boolean): Work => {
    const node = (name: string, contender: string): Contender => ({
      name,
      run: () => runProgram('training', { contender, baseUrl: server.url, ...load }),
    });
    const contenders: Record<string, Contender> = {
      tinkex: node('@tinkex/clients', 'tinkex'),
      undici: node('raw undici, one copy of each body', 'undici'),
      'undici-kept': node('raw undici, bodies kept', 'undici-kept'),
    };
    if (python !== undefined && hasPython) {
      contenders['python'] = { name: 'Python SDK', run: () => python({ work: 'training', ...load, warmUpSteps: 10 }) };
    }
    return {
      id,
      title: `${load.steps} training steps of ${load.datums} x ${load.tokens} tokens`,
      contenders,
      prepare: () => server.setPassResult(chunkSize, load.tokens),
      comparisons: [
        { metric: 'cpuMsPerStep', of: 'tinkex', against: 'undici', goal: { atMost: 1.5 } },
        { metric: 'cpuMsPerStep', of: 'tinkex', against: 'undici-kept' },
        { metric: 'wallMsPerStep', of: 'tinkex', against: 'undici' },
        { metric: 'cpuMsPerStep', of: 'tinkex', against: 'python' },
        { metric: 'wallMsPerStep', of: 'tinkex', against: 'python' },
        { metric: 'peakRssBytes', of: 'tinkex', against: 'python', goal: { atMost: 1 / 2 } },
      ],
    };
  };
  const results: Record<string, Contender> = {
    tinkex: { name: '@tinkex/clients', run: () => runProgram('large-result', { contender: 'tinkex', baseUrl: server.url, results: 5 }) },
    undici: { name: 'raw undici', run: () => runProgram('large-result', { contender: 'undici', baseUrl: server.url, results: 5 }) },
  };
  if (python !== undefined) {
    results['python'] = { name: 'Python SDK', run: () => python({ work: 'large-result', results: 5 }) };
  }
  return [
    // Small steps are over before Node's compiler has come to rest, so they are repeated for longer beforehand.
    stepWork('training-64', { datums: 64, tokens: 512, steps: 100, warmUpSteps: 3_000 }, 64, false),
    stepWork('training', { datums: 1_024, tokens: 1_024, steps: 100, warmUpSteps: 20 }, DATUMS_A_CHUNK, true),
    {
      id: 'large-result',
      title: 'A result of 50 MB, received and decoded',
      contenders: results,
      prepare: () => server.setPassResult(1_024, 12_800),
      comparisons: [
        { metric: 'cpuMsPerResult', of: 'tinkex', against: 'undici', goal: { atMost: 2 } },
        { metric: 'cpuMsPerResult', of: 'tinkex', against: 'python' },
        { metric: 'wallMsPerResult', of: 'tinkex', against: 'python' },
        { metric: 'peakRssBytes', of: 'tinkex', against: 'python', goal: { atMost: 1 / 2 } },
      ],
    },
  ];
}
