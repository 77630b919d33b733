import type { Bench, Benchmark, Contender } from '../measure/benchmark.js';
import { runProgram } from '../measure/run-program.js';

const contender = (name: string, program: string, task: object): Contender => ({ name, run: () => runProgram(program, task) });

/** How `@tinkex/types` encodes and decodes bulk numbers, against one copy of the bytes and against JSON of the runtime. */
export function codecBenchmarks({ isSurvey }: Bench): Benchmark[] {
  const protobuf: Benchmark[] = [
    {
      id: 'encode-request',
      title: 'Encode a request of 1,024 x 4,096 tokens',
      contenders: {
        tinkex: contender('@tinkex/types', 'encode-request', { contender: 'tinkex' }),
        memcpy: contender('one copy of the bytes', 'encode-request', { contender: 'memcpy' }),
      },
      comparisons: [
        { metric: 'cpuMs', of: 'tinkex', against: 'memcpy', goal: { atMost: 4 } },
        { metric: 'extraBytesPerByte', of: 'tinkex', goal: { atMost: 1.5 } },
      ],
    },
    {
      id: 'decode-output',
      title: 'Decode a result of 4M log-probabilities',
      contenders: {
        aligned: contender('@tinkex/types', 'decode-output', { contender: 'tinkex', offset: 0 }),
        shifted: contender('@tinkex/types, unaligned bytes', 'decode-output', { contender: 'tinkex', offset: 1 }),
        memcpy: contender('one copy of the bytes', 'decode-output', { contender: 'memcpy', offset: 0 }),
      },
      comparisons: [
        { metric: 'cpuMs', of: 'aligned', against: 'memcpy', goal: { atMost: 2 } },
        { metric: 'cpuMs', of: 'shifted', against: 'memcpy', goal: { atMost: 2 } },
      ],
    },
  ];
  if (isSurvey) return protobuf.slice(-1);
  const json = (['encode', 'decode'] as const).map(
    (direction): Benchmark => ({
      id: `json-${direction}`,
      title: `${direction === 'encode' ? 'Write a request' : 'Read a result'} of 128 x 4,096 tokens as JSON`,
      contenders: {
        tinkex: contender('@tinkex/types', 'json-dialect', { contender: 'tinkex', direction }),
        engine: contender(direction === 'encode' ? 'JSON.stringify' : 'JSON.parse', 'json-dialect', { contender: 'engine', direction }),
      },
      comparisons: [{ metric: 'cpuMs', of: 'tinkex', against: 'engine', goal: { atMost: 1.3 } }],
    }),
  );
  const combine: Benchmark = {
    id: 'combine-outputs',
    title: 'Combine the results of chunks: the cost of a chunk must not grow with their number',
    contenders: {
      many: contender('128 chunks', 'combine-outputs', { chunks: 128 }),
      // Not fewer: a list below 128 kB is in the young generation of the heap, where memory costs almost nothing.
      few: contender('32 chunks', 'combine-outputs', { chunks: 32 }),
    },
    comparisons: [{ metric: 'cpuMicrosPerChunk', of: 'many', against: 'few', goal: { atMost: 1.5 } }],
  };
  return [...protobuf, ...json, combine];
}
