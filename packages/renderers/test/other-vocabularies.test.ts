import { describe, expect, it } from 'vitest';
import type { TrainOnWhat } from '../src/index.js';
import { getRenderer } from '../src/index.js';
import { tokenizerOf } from './harness/tokenizers.js';
import { type Case, conversationOf, isRefusal, readVectors, type Tokens, type Weights } from './harness/vectors.js';

interface OtherVocabularies {
  readonly tokenizers: Readonly<Record<string, { readonly special_ids: Readonly<Record<string, number>> }>>;
  readonly cases: readonly (Case & { readonly tokenizer: string; readonly renderer: string })[];
}

const { tokenizers, cases } = readVectors<OtherVocabularies>('optional-real');
const standIn = tokenizerOf('stand-in');

/** No npm package has these vocabularies, so only their special tokens are compared: which ones, in which order, and which of them are trained on. */
function specialTokens(tokens: readonly number[], weights: readonly number[], names: ReadonlyMap<number, string>): string[] {
  return tokens.flatMap((token, index) => (names.has(token) ? [`${weights[index]} ${names.get(token)}`] : []));
}

function expand(runs: Weights): number[] {
  return Array.from({ length: runs.length / 2 }, (_, index) =>
    new Array<number>(runs[index * 2 + 1] as number).fill(runs[index * 2] as number),
  ).flat();
}

describe('special tokens in vocabularies that npm does not have', () => {
  it.each(cases.map((vector) => [vector.tokenizer, vector.renderer, vector.conv ?? vector.tools, vector] as const))(
    '%s, %s, %s',
    (tokenizer, name, _conv, vector) => {
      const { special_ids } = tokenizers[tokenizer] as { special_ids: Record<string, number> };
      const theirs = new Map(Object.entries(special_ids).map(([text, id]) => [id, text]));
      const ours = new Map(
        Object.keys(special_ids).flatMap((text) =>
          standIn.tokenId(text) === undefined ? [] : [[standIn.tokenId(text) as number, text] as const],
        ),
      );
      const renderer = getRenderer(name, standIn);
      const { messages, tools, systemPrompt } = conversationOf(vector);
      const all = vector.tools === undefined ? messages : [...renderer.createConversationPrefixWithTools(tools, systemPrompt), ...messages];
      const zeros = (tokens: ArrayLike<number>) => new Array<number>(tokens.length).fill(0);
      const prompt = Array.from(renderer.buildGenerationPrompt(all).toInts());
      const { t } = vector.gen as Tokens;
      expect(specialTokens(prompt, zeros(prompt), ours)).toEqual(specialTokens(t, zeros(t), theirs));
      const { sup } = vector;
      if (sup === undefined || isRefusal(sup)) return;
      for (const [mode, runs] of Object.entries(sup.w)) {
        const { modelInput, weights } = renderer.buildSupervisedExample(all, mode as TrainOnWhat);
        const actual = specialTokens(Array.from(modelInput.toInts()), Array.from(weights), ours);
        expect(actual).toEqual(specialTokens(sup.t, expand(runs as Weights), theirs));
        expect(actual.length).toBeGreaterThan(2);
      }
    },
  );
});
