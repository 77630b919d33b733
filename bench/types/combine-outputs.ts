import { combineForwardBackwardOutputs, type ForwardBackwardOutput, TensorData } from '@tinkex/types';
import { compare, report } from './measure.js';

const OUTPUTS = 1024;

function chunkResult(): ForwardBackwardOutput {
  return {
    lossFnOutputType: 'TorchLossReturn',
    lossFnOutputs: Array.from({ length: OUTPUTS }, () => ({ logprobs: TensorData.fromArray(new Float32Array(256)) })),
    metrics: { 'loss:mean': 1, 'loss:sum': 2, 'clock:unique': 3 },
  };
}

const sizes = [8, 16, 32, 64, 128];
const results = Array.from({ length: Math.max(...sizes) }, chunkResult);
const timings = compare(
  sizes.map((chunks) => ({ name: `${chunks} chunks of ${OUTPUTS}`, run: () => combineForwardBackwardOutputs(results.slice(0, chunks)) })),
  { rounds: 31 },
);
report('combine chunk results: the ratio grows no faster than the number of chunks', timings, 'linear: 64 chunks <= about 8x of 8 chunks');

const combined = combineForwardBackwardOutputs(results.slice(0, 64));
const isSame = combined.lossFnOutputs.every(
  (entry, index) => entry === results[Math.floor(index / OUTPUTS)]?.lossFnOutputs[index % OUTPUTS],
);
console.log(`tensors are shared, not copied: ${isSame}`);
console.log(JSON.stringify({ title: 'tensors are shared', isSame }));
