import {
  type ForwardBackwardOutput,
  type ForwardBackwardRequest,
  forwardBackwardOutput,
  forwardBackwardRequest,
  ModelInput,
  parseJson,
  stringifyJson,
  TensorData,
} from '@tinkex/types';
import { compare, report } from './measure.js';

const DATUMS = 128;
const TOKENS = 4096;

const request: ForwardBackwardRequest = {
  modelId: 'bench:train:0',
  seqId: 1,
  lossFn: 'cross_entropy',
  data: Array.from({ length: DATUMS }, (_, datum) => {
    const tokens = Int32Array.from({ length: TOKENS }, (_entry, index) => (datum * 7919 + index * 104729) % 150_000);
    return {
      modelInput: ModelInput.fromInts(tokens),
      lossFnInputs: {
        targetTokens: TensorData.fromArray(tokens, 'int64'),
        weights: TensorData.fromArray(new Float32Array(TOKENS).fill(1)),
      },
    };
  }),
};
const output: ForwardBackwardOutput = {
  lossFnOutputType: 'scalar',
  metrics: { 'loss:sum': 1.5 },
  lossFnOutputs: Array.from({ length: DATUMS }, (_, datum) => ({
    logprobs: TensorData.fromArray(Float32Array.from({ length: TOKENS }, (_entry, index) => -Math.abs(Math.sin(datum * TOKENS + index)))),
  })),
};

for (const [title, text, encode, decode] of [
  [
    'request',
    stringifyJson(forwardBackwardRequest.encode(request)),
    () => stringifyJson(forwardBackwardRequest.encode(request)),
    forwardBackwardRequest.decode,
  ],
  [
    'output',
    stringifyJson(forwardBackwardOutput.encode(output)),
    () => stringifyJson(forwardBackwardOutput.encode(output)),
    forwardBackwardOutput.decode,
  ],
] as const) {
  const plain: unknown = JSON.parse(text);
  console.log(`${title}: ${(text.length / 2 ** 20).toFixed(1)} MiB of text`);
  report(
    `JSON dialect, encode ${title}`,
    compare([
      { name: 'JSON.stringify of the same value', run: () => JSON.stringify(plain) },
      { name: 'encode and stringifyJson', run: encode },
    ]),
    '<= 1.3x',
  );
  report(
    `JSON dialect, decode ${title}`,
    compare([
      { name: 'JSON.parse of the same text', run: () => JSON.parse(text) as unknown },
      { name: 'parseJson and decode', run: () => decode(parseJson(text)) },
    ]),
    '<= 1.3x',
  );
}
