/** Requests and results as JSON, for servers that do not speak protobuf. */
import { type ForwardBackwardOutput, ModelInput, TensorData } from '@tinkex/types';
import { type ForwardBackwardRequest, forwardBackwardOutput, forwardBackwardRequest, parseJson, stringifyJson } from '@tinkex/types/wire';
import { medianCpuMs } from '../measure/median-cpu.js';
import { program } from '../measure/program.js';

const DATUMS = 128;
const TOKENS = 4_096;

function request(): ForwardBackwardRequest {
  const data = Array.from({ length: DATUMS }, (_, row) => {
    const tokens = Int32Array.from({ length: TOKENS }, (_entry, index) => (row * 7_919 + index * 104_729) % 150_000);
    const weights = TensorData.fromArray(new Float32Array(TOKENS).fill(1));
    return { modelInput: ModelInput.fromInts(tokens), lossFnInputs: { targetTokens: TensorData.fromArray(tokens, 'int64'), weights } };
  });
  return { modelId: 'bench:train:0', seqId: 1, lossFn: 'cross_entropy', data };
}

function output(): ForwardBackwardOutput {
  const logprobs = (row: number) => Float32Array.from({ length: TOKENS }, (_, index) => -Math.abs(Math.sin(row * TOKENS + index)));
  return {
    lossFnOutputType: 'scalar',
    metrics: { 'loss:sum': 1.5 },
    lossFnOutputs: Array.from({ length: DATUMS }, (_, row) => ({ logprobs: TensorData.fromArray(logprobs(row)) })),
  };
}

interface Task {
  readonly contender: 'engine' | 'tinkex';
  readonly direction: 'encode' | 'decode';
}

await program(({ contender, direction }: Task) => {
  if (direction === 'encode') {
    const value = request();
    const plain: unknown = JSON.parse(stringifyJson(forwardBackwardRequest.encode(value)));
    const encode = () => stringifyJson(forwardBackwardRequest.encode(value));
    return { cpuMs: medianCpuMs(contender === 'engine' ? () => JSON.stringify(plain) : encode) };
  }
  const text = stringifyJson(forwardBackwardOutput.encode(output()));
  const decode = () => forwardBackwardOutput.decode(parseJson(text));
  return { cpuMs: medianCpuMs(contender === 'engine' ? () => JSON.parse(text) as unknown : decode) };
});
