import type { Load } from '../measure/repeat.js';
import { runProgram } from '../measure/run-program.js';
import type { Bench, Comparison, Contender, Work } from '../measure/work.js';

const NODE = {
  tinkex: '@tinkex/clients',
  undici: 'raw undici',
  'undici-bare': 'raw undici, three headers',
  fetch: 'global fetch',
} as const;

/** Node's compiler needs some ten thousand calls to come to rest, whoever makes them. */
const LOADS: readonly Load[] = [
  { inFlight: 1, calls: 10_000, warmUpCalls: 15_000 },
  { inFlight: 64, calls: 30_000, warmUpCalls: 15_000 },
  { inFlight: 1_000, calls: 30_000, warmUpCalls: 15_000 },
  { inFlight: 10_000, calls: 30_000, warmUpCalls: 20_000 },
];
const QUICK_LOADS: readonly Load[] = [{ inFlight: 64, calls: 4_000, warmUpCalls: 3_000 }];
/** For applications that would rather have their heap collected more often than have it grow: see docs/guides/performance.md. */
const SMALL_HEAP = '--heap-growing-percent=100';
/** Python needs no warm-up of a compiler, only its connections. */
const PYTHON_LOADS: Readonly<Record<number, Load>> = {
  64: { inFlight: 64, calls: 500, warmUpCalls: 100 },
  1000: { inFlight: 1_000, calls: 2_000, warmUpCalls: 100 },
  10000: { inFlight: 10_000, calls: 10_000, warmUpCalls: 100 },
};

/** Small sampling calls: submit and poll, a prompt of 32 tokens. */
export function samplingWorks({ server, python, isQuick }: Bench): Work[] {
  const node = (contender: keyof typeof NODE, load: Load, ...flags: string[]): Contender => ({
    name: NODE[contender],
    run: () => runProgram('sampling', { contender, baseUrl: server.url, ...load }, flags),
  });
  return (isQuick ? QUICK_LOADS : LOADS).map((load): Work => {
    const { inFlight } = load;
    const pythonLoad = PYTHON_LOADS[inFlight];
    const contenders: Record<string, Contender> = {};
    for (const id of isQuick ? (['tinkex', 'undici'] as const) : (Object.keys(NODE) as (keyof typeof NODE)[])) {
      // Fetch opens a connection for each call, and gives up at ten thousand.
      if (id !== 'fetch') contenders[id] = node(id, load);
      else if (inFlight < 10_000) contenders[id] = node(id, tenthOf(load));
    }
    if (inFlight >= 1_000) contenders['tinkex-small'] = { ...node('tinkex', load, SMALL_HEAP), name: `${NODE.tinkex}, ${SMALL_HEAP}` };
    if (inFlight === 10_000)
      contenders['tinkex-1000'] = { ...node('tinkex', { ...load, inFlight: 1_000 }), name: `${NODE.tinkex}, 1000 in flight` };
    if (python !== undefined && pythonLoad !== undefined) {
      const task = { work: 'sampling', ...pythonLoad };
      // The peak of a heap depends on how long it was worked with, so memory is compared after the same calls.
      contenders['tinkex-short'] = { ...node('tinkex', pythonLoad), name: `${NODE.tinkex}, as many calls as Python` };
      contenders['python'] = { name: 'Python SDK', run: () => python(task) };
      if (inFlight === 64 && !isQuick) {
        contenders['python-httpx'] = { name: 'Python SDK on httpx', run: () => python({ ...task, apiKey: 'tml-bench-httpx' }) };
      }
    }
    // Ten thousand calls in Python take minutes.
    const limit = inFlight === 10_000 ? { maxRounds: 5 } : {};
    return {
      id: `sample-${inFlight}`,
      title: `Small sampling calls, ${inFlight} in flight`,
      contenders,
      comparisons: comparisonsOf(inFlight),
      ...limit,
    };
  });
}

/** For the one that is ten times slower; never fewer calls than are in flight. */
function tenthOf({ inFlight, calls, warmUpCalls }: Load): Load {
  return { inFlight, calls: Math.max(inFlight, calls / 10), warmUpCalls: Math.max(inFlight, warmUpCalls / 10) };
}

function comparisonsOf(inFlight: number): Comparison[] {
  const isWithinLimit = inFlight <= 1_024;
  return [
    {
      metric: 'cpuMicrosPerCall',
      of: 'tinkex',
      against: 'undici',
      ...(isWithinLimit ? { goal: { atMost: 1.25 } } : {}),
    },
    { metric: 'callsPerSecond', of: 'tinkex', against: 'undici', ...(isWithinLimit ? { goal: { atLeast: 0.8 } } : {}) },
    // Cost grows with the work, not faster: a call costs the same however many are under way.
    { metric: 'cpuMicrosPerCall', of: 'tinkex', against: 'tinkex-1000', goal: { atMost: 1.25 } },
    { metric: 'cpuMicrosPerCall', of: 'tinkex', against: 'undici-bare' },
    { metric: 'cpuMicrosPerCall', of: 'tinkex', against: 'fetch' },
    { metric: 'cpuMicrosPerCall', of: 'tinkex', against: 'python', goal: { atMost: 1 / 20 } },
    { metric: 'callsPerSecond', of: 'tinkex', against: 'python', goal: { atLeast: 20 } },
    { metric: 'peakRssBytes', of: 'tinkex-short', against: 'python', goal: { atMost: 1 / 2 } },
    { metric: 'peakRssBytes', of: 'tinkex', against: 'python' },
    { metric: 'peakRssBytes', of: 'tinkex-small', against: 'python', ...(isWithinLimit ? { goal: { atMost: 1 / 2 } } : {}) },
    { metric: 'cpuMicrosPerCall', of: 'tinkex-small', against: 'tinkex' },
    { metric: 'peakRssBytes', of: 'tinkex', against: 'undici' },
    { metric: 'cpuMicrosPerCall', of: 'tinkex', against: 'python-httpx', goal: { atMost: 1 / 20 } },
    { metric: 'callsPerSecond', of: 'tinkex', against: 'python-httpx', goal: { atLeast: 20 } },
  ];
}
