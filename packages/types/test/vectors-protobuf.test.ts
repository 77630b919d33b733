import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { FieldDescriptorProto_Label, FieldDescriptorProto_Type } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import {
  type Datum,
  dmel,
  encodedText,
  type ForwardBackwardOutput,
  image,
  imageAssetPointer,
  ModelInput,
  type ModelInputChunk,
  type Provenance,
  promptLogprobsToList,
  type SampleResponse,
  TensorData,
  type TensorDtype,
  TopkLogprobs,
  ValidationError,
} from '../src/index.js';
import * as generated from '../src/proto/gen/tinker_public_pb.js';
import { toInt64Array } from '../src/tensor/numbers.js';
import { type ForwardBackwardRequest, protobuf } from '../src/wire.js';
import { fromHex, toHex, vectorCases, vectorNumber } from './vectors.js';

interface TensorVector {
  readonly dtype: TensorDtype;
  readonly shape?: number[];
  readonly data: (number | string)[];
  readonly sparse_crow_indices?: number[];
  readonly sparse_col_indices?: number[];
}

function tensorOf({ dtype, shape, data, sparse_crow_indices: rows, sparse_col_indices: columns }: TensorVector): TensorData {
  return new TensorData({
    data: dtype === 'float32' ? Float32Array.from(data, vectorNumber) : BigInt64Array.from(data, BigInt),
    dtype,
    ...(shape === undefined ? {} : { shape }),
    ...(rows === undefined ? {} : { sparseCrowIndices: toInt64Array(rows) }),
    ...(columns === undefined ? {} : { sparseColIndices: toInt64Array(columns) }),
  });
}

interface ChunkVector {
  readonly type: string;
  readonly tokens?: number[];
  readonly data?: string;
  readonly dmel?: string;
  readonly location?: string;
  readonly format?: 'png' | 'jpeg';
  readonly expected_tokens?: number;
}

const fromBase64 = (text = '') => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

function chunkOf({
  type,
  tokens,
  data,
  dmel: audio,
  location,
  format = 'png',
  expected_tokens: expectedTokens,
}: ChunkVector): ModelInputChunk {
  const length = expectedTokens === undefined ? {} : { expectedTokens };
  if (type === 'encoded_text') return encodedText(tokens ?? []);
  if (type === 'image') return image({ data: fromBase64(data), format, ...length });
  if (type === 'dmel') return dmel(fromBase64(audio));
  return imageAssetPointer({ location: location ?? '', format, ...length });
}

interface RequestVector {
  readonly model_id: string;
  readonly seq_id: number | null;
  readonly loss_fn: string;
  readonly loss_fn_config?: Record<string, number | string | boolean>;
  readonly forward_only?: boolean;
  readonly data: {
    model_input: ChunkVector[];
    loss_fn_inputs: Record<string, TensorVector>;
    model_input_spans?: SpanVector[];
    loss_fn_input_spans?: SpanVector[];
  }[];
}

interface SpanVector {
  readonly kind: 'prompt' | 'sampled';
  readonly sequence_id: string;
  readonly offset?: number;
  readonly length: number;
}

/** One list alone is what JavaScript could pass; the type forbids it. */
function provenanceOf(modelInput?: SpanVector[], targetTokens?: SpanVector[]): Pick<Datum, 'provenance'> {
  if (modelInput === undefined && targetTokens === undefined) return {};
  const spans = (list?: SpanVector[]) => list?.map(({ sequence_id: sequenceId, ...span }) => ({ ...span, sequenceId }));
  return { provenance: { modelInput: spans(modelInput), targetTokens: spans(targetTokens) } as Provenance };
}

function requestOf(input: RequestVector): ForwardBackwardRequest {
  const data = input.data.map(
    (datum): Datum => ({
      modelInput: new ModelInput(datum.model_input.map(chunkOf)),
      lossFnInputs: Object.fromEntries(
        Object.entries(datum.loss_fn_inputs).map(([name, tensor]) => [name === 'target_tokens' ? 'targetTokens' : name, tensorOf(tensor)]),
      ),
      ...provenanceOf(datum.model_input_spans, datum.loss_fn_input_spans),
    }),
  );
  return {
    modelId: input.model_id,
    ...(input.seq_id === null ? {} : { seqId: input.seq_id }),
    data,
    lossFn: input.loss_fn,
    ...(input.loss_fn_config === undefined ? {} : { lossFnConfig: input.loss_fn_config }),
    ...(input.forward_only === undefined ? {} : { forwardOnly: input.forward_only }),
  };
}

describe('protobuf-forward-backward-request.json', () => {
  const cases = vectorCases<RequestVector, { ok: boolean; hex: string }>('protobuf-forward-backward-request', 33);
  for (const { name, input, expected } of cases) {
    it(name, () => {
      if (!expected.ok) {
        expect(() => protobuf.forwardBackwardRequest.encode(requestOf(input))).toThrow(ValidationError);
        return;
      }
      const request = requestOf(input);
      const bytes = protobuf.forwardBackwardRequest.encode(request);
      const read = (encoded: Uint8Array) => fromBinary(generated.ForwardBackwardRequestSchema, encoded);
      expect(read(bytes)).toEqual(read(fromHex(expected.hex)));
      // Map entries are written in the order of the input here too, so even the bytes agree.
      expect(toHex(bytes)).toBe(expected.hex);
    });
  }
});

interface OutputVector {
  readonly ok: boolean;
  readonly loss_fn_output_type: string;
  readonly metrics: Record<string, number>;
  readonly loss_fn_outputs: Record<string, TensorVector>[];
}

describe('protobuf-forward-backward-output.json', () => {
  for (const { name, input, expected } of vectorCases<string, OutputVector>('protobuf-forward-backward-output', 32)) {
    it(name, () => {
      if (!expected.ok) {
        expect(() => protobuf.forwardBackwardOutput.decode(fromHex(input))).toThrow(ValidationError);
        return;
      }
      const output: ForwardBackwardOutput = {
        lossFnOutputType: expected.loss_fn_output_type,
        lossFnOutputs: expected.loss_fn_outputs.map((outputs) =>
          Object.fromEntries(Object.entries(outputs).map(([key, tensor]) => [key, tensorOf(tensor)])),
        ),
        metrics: expected.metrics,
      };
      expect(protobuf.forwardBackwardOutput.decode(fromHex(input))).toEqual(output);
    });
  }
});

interface SampleVector {
  readonly ok: boolean;
  readonly sequences: {
    stop_reason: 'stop' | 'length';
    tokens: number[];
    logprobs: (number | string)[] | null;
    topk_logprobs?: TopkRows | null;
  }[];
  readonly prompt_logprobs: (number | string | null)[] | null;
  readonly topk_prompt_logprobs: TopkRows | null;
  readonly prompt_cache_hit_tokens: number;
  readonly target_prompt_logprobs?: TensorVector | null;
  readonly prompt_alt_tokens?: { tokens: TensorVector; logprobs: TensorVector } | null;
}

type TopkRows = ([number, number][] | null)[];

describe('protobuf-sample-response.json', () => {
  for (const { name, input, expected } of vectorCases<string, SampleVector>('protobuf-sample-response', 29)) {
    it(name, () => {
      if (!expected.ok) {
        expect(() => protobuf.sampleResponse.decode(fromHex(input))).toThrow(ValidationError);
        return;
      }
      const { topkPromptLogprobs, sequences, ...rest } = protobuf.sampleResponse.decode(fromHex(input));
      const { target_prompt_logprobs: targets, prompt_alt_tokens: alternatives } = expected;
      const expectedSequences = expected.sequences.map(({ stop_reason: stopReason, tokens, logprobs, topk_logprobs: topk }) => ({
        stopReason,
        tokens: Int32Array.from(tokens),
        logprobs: logprobs === null ? undefined : Float32Array.from(logprobs, vectorNumber),
        topkLogprobs: topk ?? undefined,
      }));
      const response: Omit<SampleResponse, 'sequences'> = {
        ...(targets ? { targetPromptLogprobs: tensorOf(widenedTargets(name, targets)) } : {}),
        ...(alternatives ? { promptAltTokens: { tokens: tensorOf(alternatives.tokens), logprobs: tensorOf(alternatives.logprobs) } } : {}),
        ...(expected.prompt_logprobs === null ? {} : { promptLogprobs: Float32Array.from(expected.prompt_logprobs, vectorNumber) }),
        promptCacheHitTokens: expected.prompt_cache_hit_tokens,
      };
      expect(rest).toEqual(response);
      expect(sequences.map((sequence) => ({ ...sequence, topkLogprobs: sequence.topkLogprobs?.toList() }))).toEqual(expectedSequences);
      expect(topkPromptLogprobs?.toList() ?? null).toEqual(expected.topk_prompt_logprobs);
    });
  }
});

/** The reference reads the bits of bfloat16 here as whole numbers, which its page calls a defect: they are the upper halves of floats. */
function widenedTargets(name: string, targets: TensorVector): TensorVector {
  if (!name.endsWith('bfloat16')) return targets;
  const bits = Uint32Array.from(targets.data, (value) => Number(value) << 16);
  return { ...targets, data: [...new Float32Array(bits.buffer)] };
}

interface SamplingParamsVector {
  readonly max_tokens?: number;
  readonly seed?: number;
  readonly temperature?: number;
  readonly top_k?: number;
  readonly top_p?: number;
  readonly stop_strs?: string[];
  readonly stop_tokens?: number[];
}

describe('protobuf-other.json', () => {
  for (const { name, message, input, expected } of vectorCases<SamplingParamsVector, string>('protobuf-other', 3)) {
    it(name, () => {
      expect(message).toBe('SamplingParams');
      const { max_tokens: maxTokens, seed, temperature, top_k: topK, top_p: topP, stop_strs: strings, stop_tokens: tokens } = input;
      const params = create(generated.SamplingParamsSchema, {
        maxTokens,
        seed: seed === undefined ? undefined : BigInt(seed),
        temperature,
        topK,
        topP,
        ...(strings === undefined ? {} : { stop: { case: 'stopStrs', value: { values: strings } } }),
        ...(tokens === undefined ? {} : { stop: { case: 'stopTokens', value: { values: tokens } } }),
      });
      expect(toHex(toBinary(generated.SamplingParamsSchema, params))).toBe(expected);
    });
  }
});

interface SchemaExpected {
  readonly number: number;
  readonly type?: string;
  readonly label?: string;
  readonly kind?: string;
  readonly oneof?: string;
}

describe('protobuf-schema.json', () => {
  const file = generated.file_tinker_public;
  for (const { name, input, expected } of vectorCases<{ message?: string; field?: string; enum?: string; value?: string }, SchemaExpected>(
    'protobuf-schema',
    91,
  )) {
    it(name, () => {
      if (input.enum !== undefined) {
        const value = file.enums
          .find((candidate) => candidate.name === input.enum)
          ?.values.find((candidate) => candidate.name === input.value);
        expect(value?.number).toBe(expected.number);
        return;
      }
      const message = file.messages.find((candidate) => candidate.name === input.message);
      const field = message?.proto.field.find((candidate) => candidate.name === input.field) ?? entryField(input.message, input.field);
      expect(field?.number).toBe(expected.number);
      if (expected.oneof !== undefined) expect(message?.proto.oneofDecl[field?.oneofIndex ?? -1]?.name).toBe(expected.oneof);
      expect(field?.proto3Optional ?? false).toBe(expected.label === 'optional');
      const isRepeated = field?.label === FieldDescriptorProto_Label.REPEATED;
      expect(isRepeated).toBe(expected.label === 'repeated');
      const typeName = field?.typeName.replace(/^\.tinker_public\./, '') ?? '';
      const scalar = FieldDescriptorProto_Type[field?.type ?? 0]?.toLowerCase();
      expect(
        expected.type === scalar || typeName === expected.type || typeName.endsWith(`.${expected.type}`),
        `${typeName} ${scalar}`,
      ).toBe(true);
    });
  }

  /** Fields of the entry messages of maps, which stand inside the message that has the map. */
  function entryField(messageName: string | undefined, fieldName: string | undefined) {
    for (const message of file.proto.messageType) {
      const entry = message.nestedType.find((nested) => messageName === nested.name || messageName === `${message.name}.${nested.name}`);
      const field = entry?.field.find((candidate) => candidate.name === fieldName);
      if (field !== undefined) return field;
    }
    return undefined;
  }
});

describe('prompt-logprobs.json', () => {
  for (const { name, input, expected } of vectorCases<(number | string)[], (number | string | null)[]>('prompt-logprobs', 4)) {
    it(name, () => {
      const list = promptLogprobsToList(Float32Array.from(input, vectorNumber));
      expect(list).toEqual(expected.map((value) => (value === null ? null : vectorNumber(value))));
    });
  }
});

describe('topk-logprobs.json', () => {
  for (const { name, input, expected } of vectorCases<{ token_ids: number[][]; logprobs: number[][] }, ([number, number][] | null)[]>(
    'topk-prompt-logprobs',
    8,
  )) {
    it(name, () => {
      const matrix = new TopkLogprobs({
        tokenIds: Int32Array.from(input.token_ids.flat()),
        logprobs: Float32Array.from(input.logprobs.flat()),
        k: input.token_ids[0]?.length ?? 0,
        length: input.token_ids.length,
      });
      expect(matrix.toList()).toEqual(expected);
    });
  }
});
