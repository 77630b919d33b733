import { runProgram } from '../measure/run-program.js';
import type { Bench, Contender, Work } from '../measure/work.js';

const contender = (name: string, program: string, task: object): Contender => ({ name, run: () => runProgram(program, task) });

/** What `@tinkex/types` makes of bulk numbers, against one copy of the bytes and against the engine's own JSON. */
export function codecWorks({ isQuick }: Bench): Work[] {
  const protobuf: Work[] = [
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
        shifted: contender('@tinkex/types, bytes at an odd place', 'decode-output', { contender: 'tinkex', offset: 1 }),
        memcpy: contender('one copy of the bytes', 'decode-output', { contender: 'memcpy', offset: 0 }),
      },
      comparisons: [
        { metric: 'cpuMs', of: 'aligned', against: 'memcpy', goal: { atMost: 2 } },
        { metric: 'cpuMs', of: 'shifted', against: 'memcpy', goal: { atMost: 2 } },
      ],
    },
  ];
  if (isQuick) return protobuf.slice(-1);
  const json = (['encode', 'decode'] as const).map(
    (direction): Work => ({
      id: `json-${direction}`,
      title: `${direction === 'encode' ? 'Write a request' : 'Read a result'} of 128 x 4,096 tokens as JSON`,
      contenders: {
        tinkex: contender('@tinkex/types', 'json-dialect', { contender: 'tinkex', direction }),
        engine: contender(direction === 'encode' ? 'JSON.stringify' : 'JSON.parse', 'json-dialect', { contender: 'engine', direction }),
      },
      comparisons: [{ metric: 'cpuMs', of: 'tinkex', against: 'engine', goal: { atMost: 1.3 } }],
    }),
  );
  const combine: Work = {
    id: 'combine-outputs',
    title: 'Put the results of chunks together: the cost of a chunk must not grow with their number',
    contenders: {
      many: contender('128 chunks', 'combine-outputs', { chunks: 128 }),
      // Not fewer: a list below 128 kB lies in the young generation of the heap, where memory costs next to nothing.
      few: contender('32 chunks', 'combine-outputs', { chunks: 32 }),
    },
    comparisons: [{ metric: 'cpuMicrosPerChunk', of: 'many', against: 'few', goal: { atMost: 1.5 } }],
  };
  return [...protobuf, ...json, combine];
}
