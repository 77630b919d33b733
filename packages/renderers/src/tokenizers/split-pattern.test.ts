import { describe, expect, it } from 'vitest';
import { compileSplitPattern } from './split-pattern.js';
import { KIMI_SPLIT_PATTERN } from './tiktoken-tokenizer.js';

const split = (pattern: string, text: string) => text.match(compileSplitPattern(pattern));

describe('compileSplitPattern', () => {
  it('ignores case only inside (?i:…), and with it the long s', () => {
    expect(split("(?i:'s|'re)|s", "'S 're 'RE 'ſ S s")).toEqual(["'S", "'re", "'RE", "'ſ", 's']);
  });

  it('has Unicode’s white space', () => {
    expect(split('\\s+', 'a\u0085\u00a0b\ufeffc d')).toEqual(['\u0085\u00a0', ' ']);
    expect(split('[^\\s]+', 'a\u0085b\ufeff')).toEqual(['a', 'b\ufeff']);
    expect(split('\\S', '\u0085\ufeff')).toEqual(['\ufeff']);
  });

  it('keeps escapes that need no escape in JavaScript', () => {
    expect(split("\\'\\-\\@", "'-@")).toEqual(["'-@"]);
    expect(split('[\\-\\]!]+', '-]!a')).toEqual(['-]!']);
  });

  it('takes quantifiers, lazy ones too', () => {
    expect(split('\\p{N}{1,3}', '12345')).toEqual(['123', '45']);
    expect(split('a+?', 'aa')).toEqual(['a', 'a']);
  });

  it.each(['a++', 'a{1,2}+', '(?>a)', '\\d', '\\h', '(?<name>a)'])('refuses %s, which it would read differently', (pattern) => {
    expect(() => compileSplitPattern(pattern)).toThrow(`has no JavaScript form: ${pattern}`);
  });

  it('splits as Kimi does: Han apart from other letters, numbers by three', () => {
    expect(split(KIMI_SPLIT_PATTERN, "Hello你好World's 12345  x\n")).toEqual([
      'Hello',
      '你好',
      "World's",
      ' ',
      '123',
      '45',
      ' ',
      ' x',
      '\n',
    ]);
  });
});
