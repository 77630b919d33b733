import type { ModelInput } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import type { ImageSize, Renderer, RendererOptions, TrainOnWhat } from '../src/index.js';
import { getRenderer } from '../src/index.js';
import { tokenizerOf } from './harness/tokenizers.js';
import { attempt, decodeMessages, isRefusal, type Refusal, readVectors, runLengths, type Weights } from './harness/vectors.js';

type Chunk = { readonly t: readonly number[] } | { readonly image: { readonly expected_tokens: number; readonly format: string } };

/** Chunks, or just tokens where there is no image. */
type Rendered = { readonly chunks?: readonly Chunk[]; readonly t?: readonly number[] };

interface ImageCase {
  readonly renderer: string;
  readonly processor: 'qwen' | 'kimi' | 'nemotron' | 'built-in' | null;
  readonly tokenizer?: string;
  readonly conv: string;
  readonly gen: Rendered | Refusal;
  readonly sup?: Rendered & { readonly w: Readonly<Record<string, Weights | Refusal>> };
}

interface ImageVectors {
  readonly conversations: readonly { readonly id: string; readonly messages: readonly unknown[] }[];
  readonly cases: readonly ImageCase[];
}

const { conversations, cases } = readVectors<ImageVectors>('vl');

/** The stand-ins for image processors that produced the vectors. */
const COUNTERS: Readonly<Record<string, (size: ImageSize) => number>> = {
  qwen: ({ width, height }) => Math.ceil(height / 32) * Math.ceil(width / 32),
  kimi: ({ width, height }) => Math.ceil(width / 28) * Math.ceil(height / 28),
  nemotron: ({ width, height }) => Math.ceil(width / 32) * Math.ceil(height / 32),
};

/** Neighboring tokens joined; of an image only the length, because the reference encodes it again. */
function joined(chunks: readonly (readonly number[] | number)[]): (number[] | { image: number })[] {
  const result: (number[] | { image: number })[] = [];
  for (const chunk of chunks) {
    const last = result.at(-1);
    if (typeof chunk === 'number') result.push({ image: chunk });
    else if (Array.isArray(last)) last.push(...chunk);
    else result.push([...chunk]);
  }
  return result;
}

const expected = ({ chunks, t = [] }: Rendered) =>
  joined((chunks ?? [{ t }]).map((chunk) => ('t' in chunk ? chunk.t : chunk.image.expected_tokens)));
const actual = ({ chunks }: ModelInput) =>
  joined(
    chunks.map((chunk) =>
      chunk.type === 'encoded_text' ? Array.from(chunk.tokens) : chunk.type === 'image' ? (chunk.expectedTokens ?? -1) : -1,
    ),
  );

function rendererOf({ renderer, processor, tokenizer = 'stand-in' }: ImageCase): Renderer {
  const options: RendererOptions = processor === null || processor === 'built-in' ? {} : { countImageTokens: COUNTERS[processor] };
  return getRenderer(renderer, tokenizerOf(tokenizer), options);
}

describe('images', () => {
  it.each(cases.map((vector) => [vector.renderer, vector.processor, vector.conv, vector] as const))(
    '%s with processor %s: %s',
    (...[, , , vector]) => {
      const renderer = rendererOf(vector);
      const messages = decodeMessages(conversations.find(({ id }) => id === vector.conv)?.messages);
      const prompt = attempt(() => actual(renderer.buildGenerationPrompt(messages)));
      expect(prompt).toEqual(isRefusal(vector.gen) ? 'refused' : expected(vector.gen));
      for (const [mode, weights] of Object.entries(vector.sup?.w ?? {})) {
        const example = attempt(() => renderer.buildSupervisedExample(messages, mode as TrainOnWhat));
        if (isRefusal(weights)) expect(example).toBe('refused');
        else if (example === 'refused') expect.fail(`${mode} is refused`);
        else {
          expect(actual(example.modelInput)).toEqual(expected(vector.sup ?? {}));
          expect(runLengths(example.weights)).toEqual(weights);
        }
      }
    },
  );

  it('sends the bytes of a data URI and the format they have', () => {
    const renderer = getRenderer('qwen3_vl', tokenizerOf('stand-in'), { countImageTokens: () => 3 });
    const messages = decodeMessages(conversations.find(({ id }) => id === 'v-image-only')?.messages);
    const image = renderer.buildGenerationPrompt(messages).chunks.find(({ type }) => type === 'image');
    expect(image).toMatchObject({ type: 'image', format: 'png', expectedTokens: 3 });
    expect(Array.from((image as { data: Uint8Array }).data.slice(1, 4), (byte) => String.fromCharCode(byte)).join('')).toBe('PNG');
  });

  it('refuses an address, which it cannot load, and names the message', () => {
    const renderer = getRenderer('qwen3_vl', tokenizerOf('stand-in'), { countImageTokens: () => 3 });
    const messages = [
      { role: 'user', content: 'Look' },
      { role: 'user', content: [{ type: 'image', image: 'https://example.com/cat.png' }] },
    ] as const;
    expect(() => renderer.buildGenerationPrompt(messages)).toThrow('messages[1].content has an image that is not a PNG or JPEG data URI');
  });
});
