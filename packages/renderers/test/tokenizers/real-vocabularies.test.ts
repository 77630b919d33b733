import { createHash } from 'node:crypto';
import { Tokenizer } from '@huggingface/tokenizers';
import { describe, expect, it } from 'vitest';
import type { AddedTokens } from '../../src/core/tokenizer.js';
import { BpeTokenizer, type ByteLevelTokenizer } from '../../src/tokenizers/bpe-tokenizer.js';
import { bytesOfToken } from '../../src/tokenizers/byte-alphabet.js';
import { huggingFaceTokenizer, wrapTokenizer } from '../../src/tokenizers/hugging-face-tokenizer.js';
import { tiktokenTokenizer } from '../../src/tokenizers/tiktoken-tokenizer.js';
import { bpeTokenizer } from '../../src/tokenizers/tokenizer-json.js';
import { mixedTexts, seededIntegers } from './mixed-text.js';
import { tokenizerFiles, VOCABULARIES, type Vocabulary } from './vocabularies.js';

/** Tokens and digest of what Python's `tokenizers` 0.22.2 makes of the same texts (see python-ids.py): of all, and of the first 200. */
const PYTHON: Readonly<Record<Vocabulary, Readonly<Record<'all' | 'first' | 'lone', string>>>> = {
  qwen3: {
    all: '2593039 90b7316f4318126f494dacdeaabe531c',
    first: '254015 bf3be9cd0bd92accc1dc2f085ff66908',
    lone: '524039 a95d6514ad27fdc7cb047416f91d0337',
  },
  llama3_1: {
    all: '2669063 f44fed4b7b7f30ad3a9bbb0cd90c8949',
    first: '262117 7a2f900c701f54d479567716faa3dde5',
    lone: '540894 ecdd9991a2ea9738ee0dffb0c78e033f',
  },
  deepseek_v3: {
    all: '2710422 98ba50c082dd78dd876c7693ddda3e86',
    first: '266802 9552370811916c2805c075c9cd475335',
    lone: '548023 187fb5aae6ea14eb1cb58389de56fbc3',
  },
  gpt4o: {
    all: '2585448 abdae6a2b6a3490ec28f5a98647fb6da',
    first: '254144 75ff066eda171a7a934a3f08d43f04cc',
    lone: '521948 019f199f81575fc013bec7d6ad824005',
  },
};

/** The first tenth is enough for every change; `TINKEX_ALL_TEXTS=1` compares all 6 MB, as the weekly workflow does. */
const EXTENT = process.env['TINKEX_ALL_TEXTS'] === '1' ? 'all' : 'first';
const MIXED = mixedTexts(1, EXTENT === 'all' ? 2_000 : 200);
const LONE = mixedTexts(2, 400, { hasLoneSurrogates: true });

function digestOf(tokenizer: ByteLevelTokenizer, texts: readonly string[]): string {
  const digest = createHash('sha256');
  let count = 0;
  for (const text of texts) {
    const ids = tokenizer.encode(text);
    digest.update(ids);
    count += ids.length;
  }
  return `${count} ${digest.digest('hex').slice(0, 32)}`;
}

describe.each(VOCABULARIES)('the vocabulary %s', (vocabulary) => {
  const { json, config } = tokenizerFiles(vocabulary);
  const tokenizer = bpeTokenizer(json, config);
  const raw = new Tokenizer(json, config);
  const wrapped = wrapTokenizer(raw);

  it('gives Python’s IDs on mixed text', () => {
    expect(MIXED.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0)).toBeGreaterThan(EXTENT === 'all' ? 5_000_000 : 500_000);
    expect(digestOf(tokenizer, MIXED)).toBe(PYTHON[vocabulary][EXTENT]);
  });

  it('reads lone surrogates as U+FFFD', () => {
    expect(digestOf(tokenizer, LONE)).toBe(PYTHON[vocabulary].lone);
  });

  it('gives the IDs of @huggingface/tokenizers, with all, some and no added tokens', () => {
    for (const addedTokens of ['all', 'ordinary', 'none'] satisfies AddedTokens[]) {
      for (const text of mixedTexts(3, EXTENT === 'all' ? 30 : 6)) {
        expect(Array.from(tokenizer.encode(text, { addedTokens }))).toEqual(Array.from(wrapped.encode(text, { addedTokens })));
      }
    }
  });

  it('decodes any IDs as @huggingface/tokenizers does', () => {
    const random = seededIntegers(4);
    const size = Object.keys(json.model.vocab).length;
    for (let round = 0; round < 500; round += 1) {
      const ids = Array.from({ length: 1 + random(8) }, () => random(size));
      expect(tokenizer.decode(ids)).toBe(wrapped.decode(ids));
    }
  });

  it('gives texts back', () => {
    for (const text of MIXED.slice(0, 100)) {
      expect(tokenizer.decode(tokenizer.encode(text))).toBe(vocabulary === 'qwen3' ? text.normalize('NFC') : text);
    }
  });

  it('is encoded without @huggingface/tokenizers when one of its tokenizers is passed', () => {
    const fast = huggingFaceTokenizer(raw);
    expect(fast).toBeInstanceOf(BpeTokenizer);
    expect([fast.bosTokenId, fast.eosTokenId]).toEqual([tokenizer.bosTokenId, tokenizer.eosTokenId]);
  });
});

describe('tiktokenTokenizer', () => {
  it('finds the merges of a ranks file: the vocabulary of gpt4o without its merges gives the same IDs', () => {
    const { json } = tokenizerFiles('gpt4o');
    const ranks = Object.entries(json.model.vocab)
      .map(([token, id]) => [bytesOfToken(token), id] as const)
      .filter(([bytes, id]) => bytes !== undefined && id < 199_998)
      .map(([bytes, id]) => `${Buffer.from(bytes ?? []).toString('base64')} ${id}`)
      .join('\n');
    const pattern = json.pre_tokenizer?.pretokenizers?.[0]?.pattern?.Regex;
    const config = {
      added_tokens_decoder: Object.fromEntries((json.added_tokens ?? []).map(({ id, content, special }) => [id, { content, special }])),
    };
    const tokenizer = tiktokenTokenizer({ ranks, pattern, config });
    expect(digestOf(tokenizer, MIXED)).toBe(PYTHON.gpt4o[EXTENT]);
  });
});
