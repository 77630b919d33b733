/** The body of a forward_backward request: 1,024 datums of 4,096 tokens. */
import { ModelInput, TensorData } from '@tinkex/types';
import { type ForwardBackwardRequest, protobuf } from '@tinkex/types/wire';
import { medianCpuMs } from '../measure/median-cpu.js';
import { program } from '../measure/program.js';
import { collectGarbage } from '../measure/stopwatch.js';

const DATUMS = 1_024;
const TOKENS = 4_096;

const request: ForwardBackwardRequest = {
  modelId: 'bench:train:0',
  seqId: 1,
  lossFn: 'cross_entropy',
  data: Array.from({ length: DATUMS }, (_, index) => ({
    modelInput: ModelInput.fromInts(new Int32Array(TOKENS).fill(index)),
    lossFnInputs: {
      targetTokens: TensorData.fromArray(new BigInt64Array(TOKENS).fill(BigInt(index))),
      weights: TensorData.fromArray(new Float32Array(TOKENS).fill(1)),
    },
  })),
};

/** Buffers are freed some time after the collection that finds them unreachable. */
async function settle(): Promise<NodeJS.MemoryUsage> {
  collectGarbage();
  await new Promise((resolve) => setTimeout(resolve, 100));
  collectGarbage();
  return process.memoryUsage();
}

await program(async ({ contender }: { contender: 'memcpy' | 'tinkex' }) => {
  const payload = protobuf.forwardBackwardRequest.encode(request);
  const work = contender === 'memcpy' ? () => payload.slice() : () => protobuf.forwardBackwardRequest.encode(request);
  const cpuMs = medianCpuMs(work);
  const before = await settle();
  const made = work();
  const after = process.memoryUsage();
  // Nothing is freed between the two, so the difference is the peak.
  const extra = after.arrayBuffers - before.arrayBuffers + Math.max(0, after.heapUsed - before.heapUsed);
  return { cpuMs, extraBytesPerByte: extra / made.byteLength };
});
