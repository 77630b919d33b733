/** A forward_backward result with 4M log-probabilities. */
import { serverProtobuf } from '@tinkex/testkit';
import { TensorData } from '@tinkex/types';
import { protobuf } from '@tinkex/types/wire';
import { medianCpuMs } from '../measure/median-cpu.js';
import { program } from '../measure/program.js';

const OUTPUTS = 1_024;
const NUMBERS = 4_096;

/** `offset`: where the bytes start. If it is a multiple of four, the numbers are aligned and become views; otherwise they are copied. */
await program(({ contender, offset }: { contender: 'memcpy' | 'tinkex'; offset: number }) => {
  const encoded = serverProtobuf.forwardBackwardOutput.encode({
    lossFnOutputType: 'ArrayRecord',
    lossFnOutputs: Array.from({ length: OUTPUTS }, (_, index) => ({
      logprobs: TensorData.fromArray(new Float32Array(NUMBERS).fill(-index / 1_024)),
    })),
    metrics: { 'loss:sum': 1 },
  });
  const bytes = new Uint8Array(encoded.length + offset).subarray(offset);
  bytes.set(encoded);
  return { cpuMs: medianCpuMs(contender === 'memcpy' ? () => bytes.slice() : () => protobuf.forwardBackwardOutput.decode(bytes)) };
});
