import { protobuf, TensorData } from '@tinkex/types';
import { compare, report } from './measure.js';

const DATUMS = 1024;
const TOKENS = 4096;

const payload = protobuf.forwardBackwardOutput.encode({
  lossFnOutputType: 'TorchLossReturn',
  lossFnOutputs: Array.from({ length: DATUMS }, (_, index) => ({
    logprobs: TensorData.fromArray(new Float32Array(TOKENS).fill(-index / 1024)),
  })),
  metrics: { 'loss:sum': 1 },
});
console.log(`payload: ${(payload.length / 2 ** 20).toFixed(1)} MiB, ${DATUMS * TOKENS} logprobs`);

/** The same bytes at another offset: one of the four has the numbers aligned, the others need a copy. */
const shifted = Array.from({ length: 4 }, (_, offset) => {
  const buffer = new Uint8Array(payload.length + offset);
  buffer.set(payload, offset);
  return buffer.subarray(offset);
});

const timings = compare([
  { name: 'memcpy into a new buffer', run: () => payload.slice() },
  ...shifted.map((bytes, offset) => ({
    name: `protobuf decode, bytes at offset ${offset}`,
    run: () => protobuf.forwardBackwardOutput.decode(bytes),
  })),
]);
report('decode 4M logprobs', timings, '<= 2x memcpy');
