import type { Bench, Benchmark, Contender } from '../measure/benchmark.js';
import { runProgram } from '../measure/run-program.js';

const NAMES = {
  tinkex: '@tinkex/http',
  'tinkex-watched': '@tinkex/http, one event subscribed',
  undici: 'raw undici',
  fetch: 'global fetch',
  openai: "openai's client",
} as const;

/** A request through the whole pipeline, a long download, and the cost of telemetry. */
export function httpBenchmarks({ server, isQuick, isSurvey }: Bench): Benchmark[] {
  const baseUrl = server.url;
  const post = (inFlight: number): Benchmark => {
    const load = isQuick ? { calls: 2_500, warmUpCalls: 2_000 } : { calls: 15_000, warmUpCalls: 15_000 };
    const contenders: Record<string, Contender> = {};
    for (const [contender, name] of Object.entries(NAMES)) {
      // These are ten times slower: a fifth of the calls is enough.
      const share = contender === 'openai' || contender === 'fetch' ? 0.2 : 1;
      const task = { contender, baseUrl, inFlight, calls: load.calls * share, warmUpCalls: load.warmUpCalls * share };
      contenders[contender] = { name, run: () => runProgram('small-post', task) };
    }
    return {
      id: `post-${inFlight}`,
      title: `A small JSON POST, ${inFlight} in flight`,
      contenders,
      comparisons: [
        { metric: 'cpuMicrosPerCall', of: 'tinkex', against: 'undici', goal: { atMost: 1.25 } },
        { metric: 'callsPerSecond', of: 'tinkex', against: 'undici', goal: { atLeast: 0.8 } },
        { metric: 'cpuMicrosPerCall', of: 'tinkex-watched', against: 'undici' },
        { metric: 'cpuMicrosPerCall', of: 'tinkex', against: 'fetch' },
        { metric: 'cpuMicrosPerCall', of: 'tinkex', against: 'openai' },
      ],
    };
  };
  const posts = (isSurvey ? [64] : [1, 64, 1_024]).map(post);
  if (isSurvey) return posts;
  const download = (contender: string): Contender => ({
    name: contender === 'tinkex' ? '@tinkex/http' : 'raw undici',
    run: () => runProgram('download', { contender, baseUrl, downloads: 5 }),
  });
  const watched = (name: string, contender: string): Contender => ({
    name,
    run: () => runProgram('telemetry', { contender, baseUrl, calls: isQuick ? 8_000 : 40_000 }),
  });
  return [
    ...posts,
    {
      id: 'download',
      title: '64 MiB streamed',
      contenders: { tinkex: download('tinkex'), undici: download('undici') },
      comparisons: [
        { metric: 'cpuMsPerFile', of: 'tinkex', against: 'undici', goal: { atMost: 1.25 } },
        { metric: 'extraPeakBytes', of: 'tinkex', against: 'undici' },
      ],
    },
    {
      id: 'telemetry',
      title: 'What telemetry adds to a request: ratio to a request without any events',
      contenders: {
        none: watched('no subscribers', 'none'),
        'logger-off-level': watched('logger, off-level', 'logger-off-level'),
        metrics: watched('metrics', 'metrics'),
        'logger-debug': watched('logger at debug, empty sink', 'logger-debug'),
      },
      comparisons: [
        { metric: 'cpuRatio', of: 'none', as: 'ratio', goal: { atMost: 1.02 } },
        { metric: 'cpuRatio', of: 'logger-off-level', as: 'ratio', goal: { atMost: 1.05 } },
        { metric: 'cpuRatio', of: 'metrics', as: 'ratio', goal: { atMost: 1.15 } },
        { metric: 'cpuRatio', of: 'logger-debug', as: 'ratio' },
      ],
    },
  ];
}
