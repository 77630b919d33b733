import type { Bench, Benchmark, Comparison, Contender } from '../measure/benchmark.js';
import type { Load } from '../measure/repeat.js';
import { runProgram } from '../measure/run-program.js';

const NODE = {
  tinkex: '@tinkex/clients',
  undici: 'raw undici',
  'undici-bare': 'raw undici, three headers',
  fetch: 'global fetch',
} as const;

/** Node's compiler needs about ten thousand calls to settle, for every contender. */
const LOADS: readonly Load[] = [
  { inFlight: 1, calls: 10_000, warmUpCalls: 15_000 },
  { inFlight: 64, calls: 30_000, warmUpCalls: 15_000 },
  { inFlight: 1_000, calls: 30_000, warmUpCalls: 15_000 },
  { inFlight: 10_000, calls: 30_000, warmUpCalls: 20_000 },
];
const QUICK_LOADS: readonly Load[] = [{ inFlight: 64, calls: 4_000, warmUpCalls: 3_000 }];
/** For applications that prefer a smaller heap to fewer collections: see docs/guides/performance.md. */
const SMALL_HEAP = '--heap-growing-percent=100';
/** Python has no compiler to warm up, only connections to open. */
const PYTHON_LOADS: Readonly<Record<number, Load>> = {
  64: { inFlight: 64, calls: 500, warmUpCalls: 100 },
  1000: { inFlight: 1_000, calls: 2_000, warmUpCalls: 100 },
  10000: { inFlight: 10_000, calls: 10_000, warmUpCalls: 100 },
};

/** Small sampling calls: submit and poll, a prompt of 32 tokens. */
export function samplingBenchmarks({ server, python, isQuick, isSurvey }: Bench): Benchmark[] {
  const node = (contender: keyof typeof NODE, load: Load, ...flags: string[]): Contender => ({
    name: NODE[contender],
    run: () => runProgram('sampling', { contender, baseUrl: server.url, ...load }, flags),
  });
  return (isSurvey ? QUICK_LOADS : isQuick ? LOADS.map(tenthOf) : LOADS).map((load): Benchmark => {
    const { inFlight } = load;
    const pythonLoad = PYTHON_LOADS[inFlight];
    const contenders: Record<string, Contender> = {};
    for (const id of isSurvey ? (['tinkex', 'undici'] as const) : (Object.keys(NODE) as (keyof typeof NODE)[])) {
      // Fetch opens one connection per call, and fails at ten thousand.
      if (id !== 'fetch') contenders[id] = node(id, load);
      else if (inFlight < 10_000) contenders[id] = node(id, tenthOf(load));
    }
    if (inFlight >= 1_000) contenders['tinkex-small'] = { ...node('tinkex', load, SMALL_HEAP), name: `${NODE.tinkex}, ${SMALL_HEAP}` };
    if (inFlight === 10_000)
      contenders['tinkex-1000'] = { ...node('tinkex', { ...load, inFlight: 1_000 }), name: `${NODE.tinkex}, 1000 in flight` };
    if (python !== undefined && pythonLoad !== undefined) {
      const task = { work: 'sampling', ...pythonLoad };
      // The peak of a heap grows with the number of calls, so memory is compared after the same calls.
      contenders['tinkex-short'] = { ...node('tinkex', pythonLoad), name: `${NODE.tinkex}, as many calls as Python` };
      contenders['python'] = { name: 'Python SDK', run: () => python(task) };
      if (inFlight === 64 && !isSurvey) {
        contenders['python-httpx'] = { name: 'Python SDK on httpx', run: () => python({ ...task, apiKey: 'tml-bench-httpx' }) };
      }
    }
    return {
      id: `sample-${inFlight}`,
      title: `Small sampling calls, ${inFlight} in flight`,
      contenders,
      comparisons: comparisonsOf(inFlight),
      // Ten thousand calls in Python take minutes.
      maxRounds: inFlight === 10_000 ? 5 : undefined,
    };
  });
}

/** A tenth of the calls, but never fewer than are in flight. */
function tenthOf({ inFlight, calls, warmUpCalls }: Load): Load {
  return { inFlight, calls: Math.max(inFlight, calls / 10), warmUpCalls: Math.max(inFlight, warmUpCalls / 10) };
}

function comparisonsOf(inFlight: number): Comparison[] {
  const isWithinLimit = inFlight <= 1_024;
  return [
    { metric: 'cpuMicrosPerCall', of: 'tinkex', against: 'undici', goal: isWithinLimit ? { atMost: 1.25 } : undefined },
    { metric: 'callsPerSecond', of: 'tinkex', against: 'undici', goal: isWithinLimit ? { atLeast: 0.8 } : undefined },
    // A call costs the same, however many are in flight.
    { metric: 'cpuMicrosPerCall', of: 'tinkex', against: 'tinkex-1000', goal: { atMost: 1.25 } },
    { metric: 'cpuMicrosPerCall', of: 'tinkex', against: 'undici-bare' },
    { metric: 'cpuMicrosPerCall', of: 'tinkex', against: 'fetch' },
    { metric: 'cpuMicrosPerCall', of: 'tinkex', against: 'python', goal: { atMost: 1 / 20 } },
    { metric: 'callsPerSecond', of: 'tinkex', against: 'python', goal: { atLeast: 20 } },
    { metric: 'peakRssBytes', of: 'tinkex-short', against: 'python', goal: { atMost: 1 / 2 } },
    { metric: 'peakRssBytes', of: 'tinkex', against: 'python' },
    { metric: 'peakRssBytes', of: 'tinkex-small', against: 'python', goal: isWithinLimit ? { atMost: 1 / 2 } : undefined },
    { metric: 'cpuMicrosPerCall', of: 'tinkex-small', against: 'tinkex' },
    { metric: 'peakRssBytes', of: 'tinkex', against: 'undici' },
    { metric: 'cpuMicrosPerCall', of: 'tinkex', against: 'python-httpx', goal: { atMost: 1 / 20 } },
    { metric: 'callsPerSecond', of: 'tinkex', against: 'python-httpx', goal: { atLeast: 20 } },
  ];
}
