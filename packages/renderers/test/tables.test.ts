import { modelInfo } from '@tinkex/types/models';
import { describe, expect, it } from 'vitest';
import { getRecommendedRendererName, getRenderer, registerRenderer, rendererForModel, rendererNames } from '../src/index.js';
import { tokenizerOf } from './harness/tokenizers.js';
import { RENDERER_FILES, readVectors } from './harness/vectors.js';

interface Tables {
  readonly models: readonly { readonly model: string; readonly renderers: readonly string[] }[];
  readonly lookup_edge_cases: readonly { readonly model: string; readonly renderers?: readonly string[]; readonly err?: string }[];
}

const { models, lookup_edge_cases } = readVectors<Tables>('_tables');
const tokenizer = tokenizerOf('stand-in');

describe('rendererNames', () => {
  it('are the 44 names of the reference', () => {
    expect(rendererNames()).toHaveLength(44);
    expect(new Set(rendererNames())).toEqual(
      new Set(RENDERER_FILES.map((file) => file.split(/[@+]/)[0]).filter((name) => rendererNames().includes(name as string))),
    );
  });

  it('contain every renderer that a model recommends', () => {
    for (const { model, renderers } of models) {
      expect(modelInfo(model).renderers).toEqual(renderers);
      for (const name of renderers) expect(getRenderer(name, tokenizer).name).toBe(name);
    }
  });
});

describe('getRecommendedRendererName', () => {
  it.each([...models, ...lookup_edge_cases].map(({ model, ...rest }) => [model, rest] as const))(
    'of %s',
    (model, { renderers }: { renderers?: readonly string[] }) => {
      if (renderers === undefined)
        expect(() => getRecommendedRendererName(model)).toThrow(expect.objectContaining({ code: expect.stringContaining('TINKEX_') }));
      else expect(getRecommendedRendererName(model)).toBe(renderers[0]);
    },
  );

  it('decides which renderer a model gets', () => {
    expect(rendererForModel('Qwen/Qwen3-8B', tokenizer).name).toBe('qwen3');
  });
});

describe('getRenderer', () => {
  it('refuses a name it does not know and shows the others', () => {
    expect(() => getRenderer('qwen4', tokenizer)).toThrow(/There is no renderer "qwen4". Use one of role_colon, llama3/);
    expect(() => getRenderer('toString', tokenizer)).toThrow(/There is no renderer/);
  });

  it('refuses an option that would have no effect', () => {
    expect(() => getRenderer('llama3', tokenizer, { stripThinkingFromHistory: false })).toThrow(
      'Renderer "llama3" does not take the option stripThinkingFromHistory; it takes no options.',
    );
    expect(() => getRenderer('qwen3', tokenizer, { effort: 0.5 })).toThrow('it takes stripThinkingFromHistory.');
    expect(getRenderer('llama3', tokenizer, { stripThinkingFromHistory: undefined }).name).toBe('llama3');
  });

  it('refuses a tokenizer without the tokens of the template', () => {
    const empty = { encode: () => [], decode: () => '', tokenId: () => undefined };
    expect(() => getRenderer('qwen3', empty)).toThrow('The tokenizer has no token <|im_end|>');
  });

  it.each([1, -0.1, Number.NaN])('refuses the effort %d', (effort) => {
    expect(() => getRenderer('tml_v0', tokenizer, { effort })).toThrow('The effort must be from 0 to below 1');
  });
});

describe('registerRenderer', () => {
  it('adds a renderer that wins over a built-in one, and removes it again', () => {
    const mine = getRenderer('llama3', tokenizer);
    const remove = registerRenderer('qwen3', () => mine);
    expect(getRenderer('qwen3', tokenizer)).toBe(mine);
    expect(rendererNames()).toHaveLength(44);
    remove();
    expect(getRenderer('qwen3', tokenizer)).not.toBe(mine);
  });
});
