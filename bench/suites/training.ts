import { runProgram } from '../measure/run-program.js';
import type { Bench, Contender, Work } from '../measure/work.js';

/** Data of one chunk of a batch, given the reference's limit of 5 MB a request and 16 bytes a token. */
const DATUMS_A_CHUNK = 305;

/** Training steps with chunked batches, and one large result. */
export function trainingWorks({ server, python, isQuick }: Bench): Work[] {
  if (isQuick) return [];
  const batch = { datums: 1_024, tokens: 1_024 };
  const steps = { steps: 100, warmUpSteps: 10 };
  const node = (name: string, contender: string): Contender => ({
    name,
    run: () => runProgram('training', { contender, baseUrl: server.url, ...batch, ...steps }),
  });
  const training: Record<string, Contender> = {
    tinkex: node('@tinkex/clients', 'tinkex'),
    undici: node('raw undici, one copy of each body', 'undici'),
    'undici-kept': node('raw undici, bodies kept', 'undici-kept'),
  };
  const results: Record<string, Contender> = {
    tinkex: { name: '@tinkex/clients', run: () => runProgram('large-result', { contender: 'tinkex', baseUrl: server.url, results: 5 }) },
    undici: { name: 'raw undici', run: () => runProgram('large-result', { contender: 'undici', baseUrl: server.url, results: 5 }) },
  };
  if (python !== undefined) {
    training['python'] = { name: 'Python SDK', run: () => python({ work: 'training', ...batch, ...steps }) };
    results['python'] = { name: 'Python SDK', run: () => python({ work: 'large-result', results: 5 }) };
  }
  return [
    {
      id: 'training',
      title: `${steps.steps} training steps of ${batch.datums} x ${batch.tokens} tokens`,
      contenders: training,
      prepare: () => server.setPassResult(DATUMS_A_CHUNK, batch.tokens),
      comparisons: [
        { metric: 'cpuMsPerStep', of: 'tinkex', against: 'undici', goal: { atMost: 1.5 } },
        { metric: 'cpuMsPerStep', of: 'tinkex', against: 'undici-kept' },
        { metric: 'wallMsPerStep', of: 'tinkex', against: 'undici' },
        { metric: 'cpuMsPerStep', of: 'tinkex', against: 'python' },
        { metric: 'wallMsPerStep', of: 'tinkex', against: 'python' },
        { metric: 'peakRssBytes', of: 'tinkex', against: 'python', goal: { atMost: 1 / 2 } },
      ],
    },
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
