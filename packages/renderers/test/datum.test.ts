import { type Datum, image, imageAssetPointer, ModelInput, type ModelInputChunk } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import {
  conversationToData,
  conversationToDatum,
  datumFromModelInputWeights,
  getRenderer,
  type Message,
  type Reduction,
} from '../src/index.js';
import { tokenizerOf } from './harness/tokenizers.js';
import { attempt, readVectors } from './harness/vectors.js';

interface WireChunk {
  readonly type: string;
  readonly tokens?: readonly number[];
  readonly expected_tokens?: number;
}

interface DatumVectors {
  readonly cases: readonly {
    readonly name: string;
    readonly input: {
      readonly modelInput: { readonly chunks: readonly WireChunk[] };
      readonly weights: readonly number[];
      readonly maxLength: number | null;
      readonly reduction: string;
    };
    readonly expected: {
      readonly ok?: {
        readonly model_input: { readonly chunks: readonly WireChunk[] };
        readonly loss_fn_inputs: Readonly<Record<'weights' | 'target_tokens', { readonly data: readonly number[] }>>;
      };
    };
  }[];
}

const { cases } = readVectors<DatumVectors>('_datum-from-weights');

function chunkOf({ type, tokens = [], expected_tokens = 0 }: WireChunk): ModelInputChunk {
  if (type === 'image') return image({ data: new Uint8Array(1), format: 'png', expectedTokens: expected_tokens });
  if (type === 'image_asset_pointer') return imageAssetPointer({ location: 'x', format: 'jpeg', expectedTokens: expected_tokens });
  return ModelInput.fromInts([...tokens]).chunks[0] as ModelInputChunk;
}

const summaryOf = ({ modelInput, lossFnInputs }: Datum) => ({
  chunks: modelInput.chunks.map((chunk) => (chunk.type === 'encoded_text' ? Array.from(chunk.tokens) : chunk.type)),
  weights: Array.from(lossFnInputs.weights?.toArray() ?? [], Number),
  targets: Array.from(lossFnInputs.targetTokens?.toArray() ?? [], Number),
});

describe('datumFromModelInputWeights', () => {
  it.each(cases.map((vector) => [vector.name, vector] as const))('%s', (_name, { input, expected }) => {
    const modelInput = new ModelInput(input.modelInput.chunks.map(chunkOf));
    const actual = attempt(() =>
      summaryOf(
        datumFromModelInputWeights(modelInput, input.weights, {
          maxLength: input.maxLength ?? undefined,
          reduction: input.reduction as Reduction,
        }),
      ),
    );
    const { ok } = expected;
    expect(actual).toEqual(
      ok === undefined
        ? 'refused'
        : {
            chunks: ok.model_input.chunks.map(({ type, tokens }) => tokens ?? type),
            weights: ok.loss_fn_inputs.weights.data,
            targets: ok.loss_fn_inputs.target_tokens.data,
          },
    );
  });
});

describe('conversations as data', () => {
  const renderer = getRenderer('qwen3', tokenizerOf('stand-in'));
  const messages: Message[] = [
    { role: 'user', content: 'One?' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'Two.' },
      ],
    },
    { role: 'user', content: 'Three?' },
    { role: 'assistant', content: 'Four.' },
  ];

  it('weighs an example so that its weights sum to 1', () => {
    const { weights } = summaryOf(conversationToDatum(messages, renderer));
    expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(1);
    expect(new Set(summaryOf(conversationToDatum(messages, renderer, { reduction: 'none' })).weights)).toEqual(new Set([0, 1]));
  });

  it('trains on all assistant messages by default', () => {
    const count = (datum: Datum) => summaryOf(datum).weights.filter((weight) => weight > 0).length;
    expect(count(conversationToDatum(messages, renderer))).toBeGreaterThan(
      count(conversationToDatum(messages, renderer, { trainOnWhat: 'last_assistant_message' })),
    );
  });

  it('makes one example per answer where the template removes earlier thinking', () => {
    const { data, report } = conversationToData(messages, renderer);
    expect(data).toHaveLength(2);
    expect(report).toHaveLength(2);
    expect(
      report.every(({ truncatedLength, trainedTokens, problem }) => truncatedLength === 0 && trainedTokens > 0 && problem === undefined),
    ).toBe(true);
    expect(renderer.tokenizer.decode(summaryOf(data[0] as Datum).targets)).toContain('hm');
    expect(renderer.tokenizer.decode(summaryOf(data[1] as Datum).targets)).not.toContain('hm');
  });

  it('reports what was cut off and what has nothing left to learn', () => {
    const { data, report } = conversationToData(messages, renderer, { maxLength: 12 });
    expect(data).toHaveLength(0);
    expect(report).toMatchObject([
      { truncatedLength: expect.any(Number), trainedTokens: 0, problem: 'No token of it is trained on.' },
      { trainedTokens: 0 },
    ]);
    const whole = conversationToData(messages, renderer).report[0]?.length as number;
    expect(conversationToData(messages, renderer, { maxLength: whole - 1 }).report[0]).toMatchObject({ length: whole, truncatedLength: 1 });
  });

  it('names the message and the field of what cannot be written', () => {
    const llama = getRenderer('llama3', tokenizerOf('stand-in'));
    expect(() => conversationToDatum(messages, llama)).toThrow('messages[1].content must be text or a single text part');
    expect(() => conversationToDatum([{ role: 'user', content: 'x', trainable: true }], llama)).toThrow(
      "messages[0].trainable is set, but trainOnWhat is 'all_assistant_messages'",
    );
  });
});
