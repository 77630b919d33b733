import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteTokenizer } from './byte-tokenizer.js';

const tokenizer = new ByteTokenizer();

describe('ByteTokenizer', () => {
  it('has one token per UTF-8 byte', () => {
    expect(tokenizer.encode('aé€')).toEqual([0x61, 0xc3, 0xa9, 0xe2, 0x82, 0xac]);
  });

  it('gives every well-formed text back', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(0x10ffff)), (points) => {
        const text = points
          .filter((point) => point < 0xd800 || point > 0xdfff)
          .map((point) => String.fromCodePoint(point))
          .join('');
        expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
      }),
    );
    expect(tokenizer.decode(tokenizer.encode('\uFEFFbyte order mark'))).toBe('\uFEFFbyte order mark');
  });

  it('leaves special tokens out, or names them', () => {
    const tokens = [tokenizer.bosTokenId, 0x68, 0x69, tokenizer.endOfTurnTokenId, tokenizer.eosTokenId, tokenizer.padTokenId];
    expect(tokenizer.decode(tokens)).toBe('hi');
    expect(tokenizer.decode(tokens, { skipSpecialTokens: false })).toBe('<|bos|>hi<|eot|><|eos|><|pad|>');
  });

  it('finds a token by its text', () => {
    expect(tokenizer.tokenId('a')).toBe(0x61);
    expect(tokenizer.tokenId('<|eos|>')).toBe(tokenizer.eosTokenId);
    expect(tokenizer.tokenId('é')).toBeUndefined();
    expect(tokenizer.tokenId('')).toBeUndefined();
  });

  it('does not turn text that looks like a special token into one', () => {
    expect(tokenizer.encode('<|eos|>')).toHaveLength(7);
  });

  it('shows bytes that are not UTF-8 as U+FFFD and refuses ids outside the vocabulary', () => {
    expect(tokenizer.decode(Int32Array.of(0x61, 0xff))).toBe('a\uFFFD');
    expect(() => tokenizer.decode([tokenizer.vocabularySize])).toThrow(RangeError);
    expect(() => tokenizer.decode([-1])).toThrow(RangeError);
  });
});
