import { type ForwardBackwardOutput, promptLogprobsToList, TensorData, type TensorDtype } from '../../../packages/types/src/index.js';
import { DType, ForwardBackwardRequestSchema, tinkerPublicFile } from '../../../packages/types/src/wire.js';
import { type Check, check, refuses, same } from './check.js';
import { protobuf } from './codecs.js';
import { everyOutput, everyRequest, everySample, extremeFloats, finiteFloats, large } from './values.js';
import { eachCase, fromHex, toHex, vectorNumber } from './vectors.js';

interface TensorVector {
  readonly dtype: TensorDtype;
  readonly shape?: readonly number[];
  readonly data: readonly (number | string)[];
  readonly sparse_crow_indices?: readonly number[];
  readonly sparse_col_indices?: readonly number[];
}

interface RequestVector {
  readonly ok: boolean;
  readonly hex: string;
}

interface OutputVector {
  readonly ok: boolean;
  readonly loss_fn_output_type: string;
  readonly metrics: Readonly<Record<string, number>>;
  readonly loss_fn_outputs: readonly Readonly<Record<string, TensorVector>>[];
}

interface SampleVector {
  readonly ok: boolean;
  readonly sequences: readonly { readonly stop_reason: string; readonly tokens: number[]; readonly logprobs: (number | string)[] | null }[];
  readonly prompt_logprobs: readonly (number | string | null)[] | null;
  readonly topk_prompt_logprobs: readonly unknown[] | null;
  readonly prompt_cache_hit_tokens: number;
}

/** The protobuf dialect: bytes of the vectors, every kind of value there and back, bytes at any alignment, bytes that are wrong. */
export const protobufChecks: readonly Check[] = [
  ...eachCase<unknown, RequestVector>(
    'request',
    (_input, { hex }) => same(toHex(protobuf.forwardBackwardRequest.encode(protobuf.forwardBackwardRequest.decode(fromHex(hex)))), hex),
    // What must not be written has no bytes to read.
    ({ ok }) => ok,
  ),
  ...eachCase<string, OutputVector>('output', (hex, expected) => {
    const decode = () => protobuf.forwardBackwardOutput.decode(fromHex(hex));
    if (!expected.ok) return refuses(decode);
    const output: ForwardBackwardOutput = {
      lossFnOutputType: expected.loss_fn_output_type,
      lossFnOutputs: expected.loss_fn_outputs.map((tensors) =>
        Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, tensorOf(tensor)])),
      ),
      metrics: expected.metrics,
    };
    same(decode(), output);
    same(protobuf.forwardBackwardOutput.decode(protobuf.forwardBackwardOutput.encode(output)), output);
  }),
  ...eachCase<string, SampleVector>('sampleResponse', (hex, expected) => {
    const decode = () => protobuf.sampleResponse.decode(fromHex(hex));
    if (!expected.ok) return refuses(decode);
    const { sequences, promptLogprobs, topkPromptLogprobs, promptCacheHitTokens } = decode();
    same(
      sequences.map(({ stopReason, tokens, logprobs }) => ({ stopReason, tokens, logprobs })),
      expected.sequences.map(({ stop_reason: stopReason, tokens, logprobs }) => ({
        stopReason,
        tokens: Int32Array.from(tokens),
        logprobs: logprobs === null ? undefined : Float32Array.from(logprobs, vectorNumber),
      })),
    );
    const list = expected.prompt_logprobs?.map((value) => (value === null || value === 'NaN' ? null : vectorNumber(value)));
    same(promptLogprobs && promptLogprobsToList(promptLogprobs), list);
    same(topkPromptLogprobs?.toList() ?? null, expected.topk_prompt_logprobs);
    same(promptCacheHitTokens, expected.prompt_cache_hit_tokens);
  }),
  ...[finiteFloats, extremeFloats].flatMap((floats, index) => [
    ...thereAndBack(`ForwardBackwardRequest ${index}`, protobuf.forwardBackwardRequest, everyRequest(floats)),
    ...thereAndBack(`ForwardBackwardOutput ${index}`, protobuf.forwardBackwardOutput, everyOutput(floats)),
    ...thereAndBack(`SampleResponse ${index}`, protobuf.sampleResponse, everySample(floats)),
  ]),
  ...thereAndBack('a large request', protobuf.forwardBackwardRequest, large.request),
  ...thereAndBack('a large result', protobuf.forwardBackwardOutput, large.output),
  check('a message cut off anywhere is refused or read, and never anything else', () => {
    const bytes = protobuf.forwardBackwardOutput.encode(everyOutput(finiteFloats));
    let refused = 0;
    for (let length = 0; length < bytes.length; length += 1) {
      try {
        protobuf.forwardBackwardOutput.decode(bytes.subarray(0, length));
      } catch {
        refuses(() => protobuf.forwardBackwardOutput.decode(bytes.subarray(0, length)));
        refused += 1;
      }
    }
    same(refused > bytes.length / 2, true);
  }),
  check('the generated messages are there', () => {
    same(ForwardBackwardRequestSchema.typeName, 'tinker_public.ForwardBackwardRequest');
    same(tinkerPublicFile.messages.length > 10, true);
    same(DType.DTYPE_INT64, 2);
  }),
];

interface BytesCodec<T> {
  encode(value: T): Uint8Array;
  decode(bytes: Uint8Array): T;
}

function thereAndBack<T>(name: string, codec: BytesCodec<T>, value: T): readonly Check[] {
  return [
    check(`${name} comes back from its bytes`, () => same(codec.decode(codec.encode(value)), value)),
    check(`${name} comes back from bytes at any alignment`, () => {
      const bytes = codec.encode(value);
      for (const offset of [1, 2, 3, 4, 7]) {
        const shifted = new Uint8Array(bytes.length + offset);
        shifted.set(bytes, offset);
        same(toHex(codec.encode(codec.decode(shifted.subarray(offset)))), toHex(bytes));
      }
    }),
  ];
}

function tensorOf({ dtype, shape, data, sparse_crow_indices: rows, sparse_col_indices: columns }: TensorVector): TensorData {
  return new TensorData({
    data: dtype === 'float32' ? Float32Array.from(data, vectorNumber) : BigInt64Array.from(data, BigInt),
    dtype,
    shape,
    sparseCrowIndices: rows && BigInt64Array.from(rows, BigInt),
    sparseColIndices: columns && BigInt64Array.from(columns, BigInt),
  });
}
