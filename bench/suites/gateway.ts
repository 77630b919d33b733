import type { Bench, Benchmark, Comparison, Contender } from '../measure/benchmark.js';
import { runProgram } from '../measure/run-program.js';

const TOKENS = 512;
const PIECES = [8, 16, 32, 64] as const;

/** A chat completion through a gateway against the bare sampler under it, with the embedded engine as the server. */
export function gatewayBenchmarks({ isQuick, isSurvey }: Bench): Benchmark[] {
  if (isSurvey) return [];
  const turns = isQuick ? 5 : 20;
  const contender = (name: string, task: object): Contender => ({
    name,
    run: () => runProgram('gateway', { tokens: TOKENS, turns, ...task }),
  });
  const streamed = PIECES.map((pieceTokens) => {
    return [`pieces${pieceTokens}`, contender(`streamed in pieces of ${pieceTokens}`, { pieceTokens, calls: 4, inFlight: 1 })] as const;
  });
  return [
    {
      id: 'gateway-chat',
      title: `A chat completion of ${TOKENS} tokens through the gateway: what it adds to the bare call, here and in the server`,
      contenders: { whole: contender('not streamed', { calls: 16, inFlight: 8 }) },
      comparisons: [
        { metric: 'addedShare', of: 'whole', as: 'ratio', goal: { atMost: 0.05 } },
        { metric: 'rateRatio', of: 'whole', as: 'ratio' },
      ],
    },
    {
      id: 'gateway-stream',
      title: `A streamed chat completion of ${TOKENS} tokens, one at a time, against the whole call of the bare sampler`,
      contenders: Object.fromEntries(streamed),
      comparisons: streamed.flatMap(([of]): Comparison[] => [
        { metric: 'firstDeltaShare', of, as: 'ratio' },
        { metric: 'rateRatio', of, as: 'ratio' },
        { metric: 'callRatio', of, as: 'ratio' },
      ]),
    },
    {
      id: 'gateway-streams',
      title: '500 streams that a gateway has open',
      contenders: { gateway: { name: '@tinkex/gateway', run: () => runProgram('gateway-streams', { streams: 500 }) } },
      comparisons: [
        { metric: 'kilobytesPerStream', of: 'gateway' },
        { metric: 'residentMegabytes', of: 'gateway' },
      ],
    },
  ];
}
