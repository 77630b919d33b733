import { Tokenizer } from '@huggingface/tokenizers';
import { describe, expect, it } from 'vitest';
import { datum, dmel, encodedText, image, imageAssetPointer, ModelInput, nextTokenDatum, ValidationError } from '../index.js';

describe('ModelInput', () => {
  it('is made of tokens, and gives them back', () => {
    const tokens = Int32Array.of(1, 2, 3);
    expect(ModelInput.fromInts(tokens).toInts()).toBe(tokens);
    expect(ModelInput.fromInts([1, 2]).append(encodedText([])).appendInt(3).toInts()).toEqual(Int32Array.of(1, 2, 3));
    expect(ModelInput.empty()).toMatchObject({ chunks: [], length: 0 });
    expect(ModelInput.empty().toInts()).toEqual(new Int32Array(0));
  });

  it('says how to make one of text', () => {
    expect(() => ModelInput.fromInts('hello' as never)).toThrow(
      'not text; tokenize it: ModelInput.fromText(text, await client.getTokenizer())',
    );
  });

  it('is never changed by appending', () => {
    const input = ModelInput.fromInts([1]);
    expect(input.appendInt(2).length).toBe(2);
    expect(input.length).toBe(1);
    expect(() => (input.chunks as unknown[]).push(1)).toThrow(TypeError);
  });

  it('counts the tokens of every kind of chunk', () => {
    const input = new ModelInput([
      encodedText([1, 2]),
      image({ data: Uint8Array.of(1), format: 'png', expectedTokens: 5 }),
      imageAssetPointer({ location: 'gs://a', format: 'jpeg', expectedTokens: 7 }),
      dmel(Uint8Array.of(4, 2, 3, 80)),
    ]);
    expect(input.length).toBe(2 + 5 + 7 + 3);
    expect(() => input.toInts()).toThrow(/chunks\[1\] is image, which has no token ids/);
    expect(() => new ModelInput([image({ data: Uint8Array.of(1), format: 'png' })]).length).toThrow(/expectedTokens is unset/);
  });

  it.each([[[1.5]], [[2 ** 31]], [[-(2 ** 31) - 1]], [[Number.NaN]], [['1']], ['12'], [{ length: 1 }]])(
    'refuses %o as tokens',
    (tokens) => {
      expect(() => ModelInput.fromInts(tokens as never)).toThrow(ValidationError);
    },
  );

  it('reads text with any tokenizer', () => {
    const bytes = {
      encode: (text: string) => Array.from(text, (letter) => letter.charCodeAt(0)),
      decode: (ids: number[]) => String.fromCharCode(...ids),
    };
    expect(ModelInput.fromText('ab', bytes).toInts()).toEqual(Int32Array.of(97, 98));
    const words = new Tokenizer(
      {
        version: '1.0',
        added_tokens: [],
        normalizer: null,
        post_processor: null,
        decoder: null,
        pre_tokenizer: { type: 'Whitespace' },
        model: { type: 'WordLevel', vocab: { hello: 5, world: 6, '?': 0 }, unk_token: '?' },
      },
      {},
    );
    expect(ModelInput.fromText('hello world', words).toInts()).toEqual(Int32Array.of(5, 6));
  });
});

describe('datum', () => {
  it('makes tensors of plain, nested and typed arrays', () => {
    const { lossFnInputs } = datum({
      modelInput: ModelInput.fromInts([1, 2]),
      lossFnInputs: { targetTokens: [2, 3], weights: Int32Array.of(1, 0), advantages: [[1], [2]], target_mask: Float32Array.of(1) },
    });
    expect(lossFnInputs.targetTokens).toMatchObject({ dtype: 'int64', shape: [2] });
    expect(lossFnInputs.weights).toMatchObject({ dtype: 'float32', shape: [2] });
    expect(lossFnInputs.advantages).toMatchObject({ dtype: 'float32', shape: [2, 1] });
    expect(lossFnInputs.target_mask).toMatchObject({ dtype: 'float32' });
  });

  it('reads documented names as the wire writes them, too', () => {
    const { lossFnInputs } = datum({ modelInput: ModelInput.empty(), lossFnInputs: { target_tokens: [2] } });
    expect(Object.keys(lossFnInputs)).toEqual(['targetTokens']);
  });

  it('says what to give instead', () => {
    expect(() => datum({ modelInput: [1] as never })).toThrow(/modelInput must be a ModelInput; make one with/);
    expect(() => datum({ modelInput: ModelInput.empty(), lossFnInputs: { mine: [1] } })).toThrow(
      /lossFnInputs\.mine has no documented element type/,
    );
    expect(() => datum({ modelInput: ModelInput.empty(), lossFnInputs: { weights: 5 as never } })).toThrow(
      /lossFnInputs\.weights must be an array/,
    );
  });
});

describe('nextTokenDatum', () => {
  it('shifts the targets by one and weighs them all', () => {
    const { modelInput, lossFnInputs } = nextTokenDatum([10, 11, 12, 13]);
    expect(modelInput.toInts()).toEqual(Int32Array.of(10, 11, 12));
    expect(lossFnInputs.targetTokens?.toArray()).toEqual([11, 12, 13]);
    expect(lossFnInputs.weights?.toArray()).toEqual([1, 1, 1]);
  });

  it.each([
    [{ promptLength: 0 }, [1, 1, 1]],
    [{ promptLength: 1 }, [1, 1, 1]],
    [{ promptLength: 2 }, [0, 1, 1]],
    [{ promptLength: 4 }, [0, 0, 0]],
    [{ weights: [9, 0, 1, 2] }, [0, 1, 2]],
    [{ weights: Float32Array.of(0, 1, 2) }, [0, 1, 2]],
  ])('with %o weighs %o', (options, weights) => {
    expect(nextTokenDatum(Int32Array.of(10, 11, 12, 13), options).lossFnInputs.weights?.toArray()).toEqual(weights);
  });

  it('refuses what does not fit', () => {
    expect(() => nextTokenDatum([1])).toThrow(/at least two/);
    expect(() => nextTokenDatum([1, 2, 3], { weights: [1] })).toThrow(/one entry per token \(3\) or per target \(2\), got 1/);
    expect(() => nextTokenDatum([1, 2, 3], { weights: [1, 1], promptLength: 1 })).toThrow(/promptLength/);
  });
});
