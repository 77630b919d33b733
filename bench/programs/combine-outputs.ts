/** Combines the results of chunks into one. */
import { type ForwardBackwardOutput, TensorData } from '@tinkex/types';
import { combineForwardBackwardOutputs } from '@tinkex/types/wire';
import { medianCpuMs } from '../measure/median-cpu.js';
import { program } from '../measure/program.js';

const OUTPUTS = 1_024;
/** A single combination is too short for the clock of the operating system. */
const TIMES = 20;

function chunkResult(): ForwardBackwardOutput {
  return {
    lossFnOutputType: 'TorchLossReturn',
    lossFnOutputs: Array.from({ length: OUTPUTS }, () => ({ logprobs: TensorData.fromArray(new Float32Array(64)) })),
    metrics: { 'loss:mean': 1, 'loss:sum': 2, 'clock:unique': 3 },
  };
}

await program(({ chunks }: { chunks: number }) => {
  const results = Array.from({ length: chunks }, chunkResult);
  const cpuMs = medianCpuMs(() => Array.from({ length: TIMES }, () => combineForwardBackwardOutputs(results)));
  return { cpuMicrosPerChunk: (cpuMs * 1_000) / TIMES / chunks };
});
