import { type ForwardBackwardRequest, ModelInput, protobuf, TensorData } from '@tinkex/types';
import { compare, report } from './measure.js';

const DATUMS = 1024;
const TOKENS = 4096;

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
const payload = protobuf.forwardBackwardRequest.encode(request);
console.log(`payload: ${(payload.length / 2 ** 20).toFixed(1)} MiB`);

const timings = compare([
  { name: 'memcpy into a new buffer', run: () => payload.slice() },
  { name: 'protobuf encode', run: () => protobuf.forwardBackwardRequest.encode(request) },
]);
report('encode a request of 1,024 data x 4,096 tokens', timings, '<= 4x memcpy');

const gc = (globalThis as { gc?: () => void }).gc;
if (gc === undefined) console.log('run with --expose-gc to measure memory');
else {
  // Buffers are freed after the collection that finds them unused, so collect twice with a pause.
  gc();
  await new Promise((resolve) => setTimeout(resolve, 100));
  gc();
  const before = process.memoryUsage();
  const encoded = protobuf.forwardBackwardRequest.encode(request);
  const after = process.memoryUsage();
  // Nothing is freed between the two, so the difference is the peak.
  const extra = after.arrayBuffers - before.arrayBuffers + Math.max(0, after.heapUsed - before.heapUsed);
  const ratio = extra / encoded.length;
  console.log(`\npeak extra memory: ${(extra / 2 ** 20).toFixed(1)} MiB = ${ratio.toFixed(2)}x the payload (goal: <= 1.5x)`);
  console.log(JSON.stringify({ title: 'peak extra memory of encoding', goal: '<= 1.5x the payload', ratio }));
}
