import { Tokenizer } from '@huggingface/tokenizers';
import { ConfigurationError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { BpeTokenizer } from './bpe-tokenizer.js';
import { BYTE_CHARACTERS } from './byte-alphabet.js';
import { huggingFaceTokenizer } from './hugging-face-tokenizer.js';
import { tiktokenTokenizer } from './tiktoken-tokenizer.js';
import { bpeTokenizer, type TokenizerJson } from './tokenizer-json.js';

const vocab = Object.fromEntries([...BYTE_CHARACTERS, 'ab', 'abc', 'Ġab'].map((token, id) => [token, id]));
const [AB, ABC, SPACE_AB] = [256, 257, 258];
const added = (id: number, content: string, more: object = {}) => ({ id, content, special: false, normalized: false, ...more });
const JSON_FILE: TokenizerJson = {
  added_tokens: [
    added(300, '<end>', { special: true }),
    added(301, '<end>>'),
    added(302, '<think>'),
    added(303, '｜x｜'),
    added(304, 'e\u0301!', { normalized: true }),
  ],
  normalizer: { type: 'NFC' },
  pre_tokenizer: {
    type: 'Sequence',
    pretokenizers: [
      { type: 'Split', pattern: { Regex: '\\p{N}' }, behavior: 'Isolated', invert: false },
      { type: 'ByteLevel', add_prefix_space: false, use_regex: false },
    ],
  },
  decoder: { type: 'ByteLevel' },
  model: { type: 'BPE', vocab, merges: ['a b', ['ab', 'c'], 'Ġ ab'] },
};
const tokenizer = bpeTokenizer(JSON_FILE, { bos_token: '<think>', eos_token: { content: '<end>' } });
const encode = (text: string, addedTokens?: 'all' | 'ordinary' | 'none') => Array.from(tokenizer.encode(text, { addedTokens }));
const change = (changes: object): TokenizerJson => ({ ...JSON_FILE, post_processor: null, ...changes }) as TokenizerJson;

describe('bpeTokenizer', () => {
  it('merges within pieces, never across', () => {
    expect(encode('abc ab')).toEqual([ABC, SPACE_AB]);
    expect(encode('a1b')).toEqual([97, 49, 98].map((byte) => vocab[BYTE_CHARACTERS[byte] as string]));
    expect(encode('')).toEqual([]);
  });

  it('finds added tokens first: the leftmost, then the longest', () => {
    expect(encode('ab<end>>ab<think')).toEqual([AB, 301, AB, ...encode('<think')]);
    expect(encode('<end><end>>')).toEqual([300, 301]);
  });

  it('leaves special tokens, or all added tokens, in the text', () => {
    expect(encode('<think><end>', 'ordinary')).toEqual([302, ...encode('<end>', 'none')]);
    expect(encode('<think>', 'none')).toHaveLength(7);
  });

  it('finds normalized added tokens in normalized text', () => {
    expect(encode('e\u0301!')).toEqual([304]);
    expect(encode('\u00e9!')).toEqual([304]);
  });

  it('decodes bytes, added tokens outside the byte alphabet, and nothing', () => {
    expect(tokenizer.decode(encode('aé€😀<think>｜x｜'))).toBe('aé€😀<think>｜x｜');
    expect(tokenizer.decode([])).toBe('');
    expect(tokenizer.decode([300, AB, 302], { skipSpecialTokens: true })).toBe('ab<think>');
    expect(tokenizer.decode(encode('😀').slice(0, 2))).toBe('\ufffd');
    expect(tokenizer.decode(encode('\ufeffx'))).toBe('\ufeffx');
    expect(tokenizer.decode([9_999, AB])).toBe('ab');
  });

  it('names its tokens', () => {
    expect(tokenizer.tokenId('<end>')).toBe(300);
    expect(tokenizer.tokenId('abc')).toBe(ABC);
    expect(tokenizer.tokenId('constructor')).toBeUndefined();
    expect([tokenizer.bosTokenId, tokenizer.eosTokenId]).toEqual([302, 300]);
  });

  it('prefers a piece that is a token where the file says so', () => {
    const model = { ...JSON_FILE.model, merges: [], ignore_merges: true };
    expect(Array.from(bpeTokenizer(change({ model })).encode('abc'))).toEqual([ABC]);
    expect(Array.from(bpeTokenizer(change({ model: { ...model, ignore_merges: false } })).encode('abc'))).toHaveLength(3);
  });

  it('encodes the same after more pieces than it remembers', () => {
    const many = Array.from({ length: 70_000 }, (_, index) => `${String.fromCharCode(0x4e00 + (index % 20_000))}1${index}`).join('');
    encode(many);
    expect(encode('abc ab')).toEqual([ABC, SPACE_AB]);
  });

  it('drops what a removing split does not match', () => {
    const pre_tokenizer = {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: '[a-c]+' }, behavior: 'Removed', invert: true },
        { type: 'ByteLevel', add_prefix_space: false, use_regex: false },
      ],
    };
    expect(Array.from(bpeTokenizer(change({ pre_tokenizer })).encode('abc--ab'))).toEqual([ABC, AB]);
  });

  it.each([
    ['a decoder', { decoder: { type: 'WordPiece' } }],
    ['a normalizer', { normalizer: { type: 'Lowercase' } }],
    ['a pre-tokenizer', { pre_tokenizer: { type: 'Whitespace' } }],
    ['a space in front', { pre_tokenizer: { type: 'ByteLevel', add_prefix_space: true } }],
    ['a model', { model: { ...JSON_FILE.model, type: 'Unigram' } }],
    ['byte fallback', { model: { ...JSON_FILE.model, byte_fallback: true } }],
    ['missing bytes', { model: { ...JSON_FILE.model, vocab: { a: 0 } } }],
    ['a merge of unknown tokens', { model: { ...JSON_FILE.model, merges: ['x yz'] } }],
    ['an added token that strips', { added_tokens: [added(1, '<mask>', { lstrip: true })] }],
  ])('refuses %s that it does not know', (_, changes) => {
    expect(() => bpeTokenizer(change(changes))).toThrow(expect.objectContaining({ code: 'TINKEX_TOKENIZER_UNSUPPORTED' }));
  });
});

describe('huggingFaceTokenizer', () => {
  it('leaves a tokenizer that is not byte-level to @huggingface/tokenizers', () => {
    const added_tokens = [
      { id: 3, content: '<s>', special: true },
      { id: 4, content: '<t>', special: false },
    ].map((token) => ({
      ...token,
      lstrip: false,
      rstrip: false,
      single_word: false,
      normalized: false,
    }));
    const file = {
      added_tokens,
      normalizer: null,
      pre_tokenizer: { type: 'Whitespace' },
      post_processor: null,
      decoder: { type: 'WordPiece', prefix: '##', cleanup: false },
      model: {
        type: 'WordPiece',
        unk_token: '[UNK]',
        continuing_subword_prefix: '##',
        max_input_chars_per_word: 100,
        vocab: { '[UNK]': 0, a: 1, b: 2 },
      },
    };
    const slow = huggingFaceTokenizer(new Tokenizer(file, { eos_token: '<s>' }));
    expect(slow).not.toBeInstanceOf(BpeTokenizer);
    expect(Array.from(slow.encode('a<s>b'))).toEqual([1, 3, 2]);
    expect(Array.from(slow.encode('a<s>b', { addedTokens: 'ordinary' }))).not.toContain(3);
    expect(Array.from(slow.encode('a<t>b', { addedTokens: 'ordinary' }))).toContain(4);
    expect(Array.from(slow.encode('a<t>b', { addedTokens: 'none' }))).not.toContain(4);
    expect(slow.decode([])).toBe('');
    expect(slow.decode(Int32Array.of(1, 2))).toBe('a b');
    expect([slow.tokenId('b'), slow.bosTokenId, slow.eosTokenId]).toEqual([2, undefined, 3]);
  });

  it('says what to do when a foreign tokenizer cannot leave special tokens in the text', () => {
    const foreign = huggingFaceTokenizer({ encode: () => ({ ids: [7] }), decode: () => 'x', token_to_id: () => undefined });
    expect(foreign.encode('x')).toEqual([7]);
    expect(() => foreign.encode('x', { addedTokens: 'none' })).toThrow(/use bpeTokenizer/);
  });
});

describe('tiktokenTokenizer', () => {
  const line = (bytes: string, rank: number) => `${btoa(bytes)} ${rank}`;
  const bytes = Array.from({ length: 256 }, (_, byte) => line(String.fromCharCode(byte), byte));
  const ranks = [...bytes, line('ab', 256), line('bc', 257), line('abcd', 258), ''].join('\n');
  const config = {
    added_tokens_decoder: { '300': { content: '<|im_end|>', special: true }, '301': { content: '<think>' } },
    eos_token: '<|im_end|>',
  };
  const kimi = tiktokenTokenizer({ ranks, config });

  it('merges the lowest rank first, and takes a piece that is a token as a whole', () => {
    expect(Array.from(kimi.encode('abc'))).toEqual([256, 99]);
    expect(Array.from(kimi.encode('abcd'))).toEqual([258]);
  });

  it('knows added tokens from the configuration', () => {
    expect(Array.from(kimi.encode('ab<|im_end|><think>', { addedTokens: 'ordinary' }).slice(-1))).toEqual([301]);
    expect(Array.from(kimi.encode('ab<|im_end|>'))).toEqual([256, 300]);
    expect(kimi.eosTokenId).toBe(300);
    expect(kimi.decode(kimi.encode('你好, world 😀'))).toBe('你好, world 😀');
  });

  it.each([
    ['a line without a rank', `${ranks}YWI=\n`],
    ['a missing byte', bytes.slice(1).join('\n')],
  ])('refuses a ranks file with %s', (_, damaged) => {
    expect(() => tiktokenTokenizer({ ranks: damaged })).toThrow(ConfigurationError);
  });
});
