import type { Bench, Benchmark, Contender } from '../measure/benchmark.js';
import { runProgram } from '../measure/run-program.js';

/** Datums in one chunk of a batch, by the reference's limit of 5 MB per request and 16 bytes per token. */
const DATUMS_PER_CHUNK = 305;

interface StepLoad {
  readonly datums: number;
  readonly tokens: number;
  readonly steps: number;
  readonly warmUpSteps: number;
}

interface StepSettings {
  readonly chunkSize: number;
  /** The goal for CPU, against raw undici with one copy of each body. */
  readonly maxCpuRatio: number;
  readonly hasPython: boolean;
}

/** Training steps with small and with chunked batches, and one large result. */
export function trainingBenchmarks({ server, python, isQuick, isSurvey }: Bench): Benchmark[] {
  if (isSurvey) return [];
  const stepBenchmark = (id: string, fullLoad: StepLoad, { chunkSize, maxCpuRatio, hasPython }: StepSettings): Benchmark => {
    const { steps, warmUpSteps } = fullLoad;
    const load = isQuick ? { ...fullLoad, steps: steps / 10, warmUpSteps: warmUpSteps / 10 } : fullLoad;
    const node = (name: string, contender: string): Contender => ({
      name,
      run: () => runProgram('training', { contender, baseUrl: server.url, ...load }),
    });
    const contenders: Record<string, Contender> = {
      tinkex: node('@tinkex/clients', 'tinkex'),
      'tinkex-no-reuse': node('@tinkex/clients, maxReusedBodyBytes 0', 'tinkex-no-reuse'),
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
        { metric: 'cpuMsPerStep', of: 'tinkex', against: 'undici', goal: { atMost: maxCpuRatio } },
        { metric: 'cpuMsPerStep', of: 'tinkex', against: 'undici-kept' },
        // What the reuse of body memory gains.
        { metric: 'cpuMsPerStep', of: 'tinkex', against: 'tinkex-no-reuse' },
        { metric: 'wallMsPerStep', of: 'tinkex', against: 'tinkex-no-reuse' },
        { metric: 'peakRssBytes', of: 'tinkex', against: 'tinkex-no-reuse' },
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
    // Small steps end before Node's compiler has settled, so they get a longer warm-up.
    stepBenchmark(
      'training-64',
      { datums: 64, tokens: 512, steps: 100, warmUpSteps: 3_000 },
      { chunkSize: 64, maxCpuRatio: 1.5, hasPython: false },
    ),
    stepBenchmark(
      'training',
      { datums: 1_024, tokens: 1_024, steps: 100, warmUpSteps: 20 },
      { chunkSize: DATUMS_PER_CHUNK, maxCpuRatio: 1.2, hasPython: true },
    ),
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
