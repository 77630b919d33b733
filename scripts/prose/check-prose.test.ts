import { describe, expect, it } from 'vitest';
import { checkProse } from './check-prose.js';
import { RULES } from './rules.js';

const phrases = (file: string, source: string): string[] => checkProse(file, source).map(({ phrase }) => phrase);

describe('checkProse', () => {
  it.each([
    ['a comment', '/** Tries for ever. */\nconst a = 1;\n', ['for ever']],
    ['a comment at the end of a line', 'const a = 1; // closed at once\n', ['at once']],
    ['a comment at the end of the file', 'const a = 1;\n// asked anew\n', ['anew']],
    ['a phrase that continues on the next line', '/**\n * It goes\n * on.\n */\nconst a = 1;\n', ['goes on']],
    ['a message', "throw new Error('the shape is no tensor');\n", ['is no tensor']],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a program as text
    ['a message with values', 'const a = `${b} stands in line, ${c} is told`;\n', ['stands in line', 'told']],
    ['a member', 'class A {\n  /** Chance, uniform. */\n  b = 1;\n}\n', ['Chance']],
  ])('finds %s', (_, source, expected) => {
    expect(phrases('a.ts', source)).toEqual(expected);
  });

  it.each([
    ['identifiers', 'const anew = told.news(learnt);\n'],
    ['code in comments', '// `anew` and {@link Told.news}\nconst a = 1;\n'],
    ['examples', '/**\n * ```ts\n * told(news);\n * ```\n */\nconst a = 1;\n'],
    ['single words, which are data', "const a = 'cancelled';\n"],
    ['addresses', '// https://example.com/news/anew\nconst a = 1;\n'],
    ['native uses', '// There is no limit. It is no longer open. A chance to close. If nobody is waiting. Tells the two futures apart.\n'],
  ])('leaves %s alone', (_, source) => {
    expect(phrases('a.ts', source)).toEqual([]);
  });

  it('checks the titles of tests, and no other string in them', () => {
    const source = "it('asks anew', () => {\n  expect(text).toBe('asked for ever');\n});\nit.each([1])('is told %i', () => {});\n";
    expect(phrases('a.test.ts', source)).toEqual(['anew', 'told']);
  });

  it('checks Markdown outside of code, and says where', () => {
    const source = '# News\n\n```text\nanew\n```\n`anew`, at\nonce.\n';
    expect(checkProse('a.md', source)).toMatchObject([
      { line: 1, column: 3, phrase: 'News' },
      { line: 6, column: 9, phrase: 'at once' },
    ]);
  });

  it('accepts an excuse that gives a reason', () => {
    expect(phrases('a.ts', '// prose-ok: quotes the server\n// asked anew\n// asked anew\n')).toEqual(['anew']);
    expect(phrases('a.md', 'asked anew <!-- prose-ok: a quotation -->\n')).toEqual([]);
    expect(phrases('a.ts', '// asked anew prose-ok:\n')).toEqual(['prose-ok:']);
  });

  it('has a suggestion for each rule, and no rule that its own suggestion breaks', () => {
    for (const { pattern, write } of RULES) {
      expect(write).not.toBe('');
      expect(write).not.toMatch(new RegExp(`\\b(?:${pattern})\\b`, 'i'));
    }
  });
});
