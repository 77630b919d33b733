import { describe, expect, it } from 'vitest';
import { dumpJson, fromPython, isDict, type PythonValue, pythonStr, serdeFloat, toPython } from '../src/core/python-json.js';
import { loadJson } from '../src/core/python-json-reader.js';
import { capitalize, compareCodePoints, firstCodePoints, isBlank, strip } from '../src/core/python-text.js';
import { TokenText } from '../src/core/token-text.js';
import type { Content, ContentPart } from '../src/index.js';
import { decodeMessage, encodeMessage } from '../src/index.js';
import { ensureParts, formatContent, hasThinking, singleText, textOf } from '../src/messages/content.js';
import { parseContentBlocks, parseThinkBlocks } from '../src/parsing/blocks.js';
import { partialTagLength } from '../src/parsing/tag-reader.js';
import { findUnterminated } from '../src/parsing/tool-calls.js';
import { tokenizerOf } from './harness/tokenizers.js';
import { isRefusal, readVectors } from './harness/vectors.js';

type Outcome = { readonly out: unknown } | { readonly err: readonly [string, string] };

interface Helpers {
  readonly content: readonly ({ readonly in: unknown } & Readonly<Record<string, Outcome>>)[];
  readonly blocks: readonly {
    readonly in: string;
    readonly parse_content_blocks: { readonly parts: readonly ContentPart[]; readonly tools: readonly unknown[] } | null;
    readonly parse_think_blocks: readonly ContentPart[] | null;
  }[];
  readonly unterminated: readonly { readonly in: string; readonly out: { readonly raw_text: string; readonly error: string } | null }[];
  readonly python_json: readonly { readonly in: string; readonly err?: string; readonly [name: string]: string | null | undefined }[];
  readonly python_whitespace_code_points: readonly number[];
  readonly capitalize: readonly (readonly [string, string])[];
  readonly utf8_decoder: readonly {
    readonly feeds: readonly (readonly number[])[];
    readonly out: readonly (string | null)[];
    readonly flush: string;
  }[];
  readonly suffix_prefix: readonly (readonly [string, string, number])[];
}

const helpers = readVectors<Helpers>('_helpers');
const outcome = (value: Outcome | undefined) => (value === undefined || isRefusal(value) ? undefined : (value as { out: unknown }).out);

describe('content', () => {
  it.each(helpers.content.map((vector) => [JSON.stringify(vector.in), vector] as const))(
    'reads %s as the reference does',
    (_name, vector) => {
      const content = decodeMessage({ role: 'user', content: vector.in }).content as Content;
      expect(singleText(content)).toEqual(outcome(vector.ensure_text));
      expect(ensureParts(content)).toEqual(outcome(vector.ensure_list));
      expect(textOf(content)).toEqual(outcome(vector.get_text_content));
      expect(formatContent(content)).toEqual(outcome(vector.format_content_as_string));
      expect(formatContent(content, '|')).toEqual(outcome(vector.format_sep));
      expect(hasThinking(content)).toEqual(outcome(vector.has_thinking));
      const jsonable = outcome(vector.content_to_jsonable);
      if (jsonable !== undefined) expect(encodeMessage({ role: 'user', content }).content).toEqual(jsonable);
    },
  );
});

describe('blocks', () => {
  it.each(helpers.blocks.map((vector) => [vector.in, vector] as const))('splits %j as the reference does', (text, vector) => {
    const blocks = parseContentBlocks(text);
    const { tool_calls = [], unparsed_tool_calls = [] } = encodeMessage({ role: 'assistant', content: '', ...blocks }) as Record<
      string,
      unknown[]
    >;
    expect(blocks === undefined ? null : { parts: blocks.parts, tools: [...tool_calls, ...unparsed_tool_calls] }).toEqual(
      vector.parse_content_blocks,
    );
    expect(parseThinkBlocks(text) ?? null).toEqual(vector.parse_think_blocks);
  });

  it.each(helpers.unterminated.map(({ in: text, out }) => [text, out] as const))('finds what is not closed in %j', (text, out) => {
    const found = findUnterminated(text, { open: '<t>', close: '</t>' });
    expect(found === undefined ? null : { raw_text: found.rawText, error: found.error }).toEqual(out);
  });

  it.each(helpers.suffix_prefix)('%j ends with %s begun by %i characters', (text, tag, length) => {
    expect(partialTagLength(text, tag)).toBe(length);
  });
});

describe('Python text', () => {
  it('has 29 code points of whitespace', () => {
    const found: number[] = [];
    for (let point = 0; point <= 0xffff; point += 1) if (isBlank(String.fromCharCode(point))) found.push(point);
    expect(found).toEqual(helpers.python_whitespace_code_points);
    expect(strip('\u001c\u0085 \uFEFFx\u3000')).toBe('\uFEFFx');
  });

  it.each(helpers.capitalize)('capitalizes %s as %s', (text, capitalized) => {
    expect(capitalize(text)).toBe(capitalized);
  });

  it('counts and compares code points, not UTF-16 units', () => {
    expect(firstCodePoints('a😀b', 2)).toBe('a😀');
    expect(firstCodePoints('a😀b', 3)).toBe('a😀b');
    expect(['😀', '\uFFFD', 'a', 'ab'].toSorted(compareCodePoints)).toEqual(['a', 'ab', '\uFFFD', '😀']);
  });
});

describe('Python JSON', () => {
  const lone = '<lone surrogate>';

  it.each(helpers.python_json.map((vector) => [vector.in, vector] as const))('reads and writes %j as Python does', (text, vector) => {
    if (vector.err !== undefined) {
      expect(() => loadJson(text)).toThrow(vector.err);
      return;
    }
    const value = loadJson(text);
    expect(dumpJson(value)).toBe(vector.dumps);
    if (vector.dumps_unicode !== lone) expect(dumpJson(value, { raw: true })).toBe(vector.dumps_unicode);
    expect(dumpJson(value, { compact: true, sortKeys: 'all' })).toBe(vector.dumps_compact_sorted);
    if (vector.str !== null && vector.str !== lone) expect(pythonStr(value)).toBe(vector.str);
  });

  it('takes JavaScript values, and gives them back', () => {
    const value = { a: [1, 2.5, -0, null, true, 'x'], b: { c: 10n ** 30n }, gone: undefined };
    expect(dumpJson(toPython(value))).toBe('{"a": [1, 2.5, -0.0, null, true, "x"], "b": {"c": 1000000000000000000000000000000}}');
    expect(fromPython(toPython(value))).toEqual({ a: [1, 2.5, -0, null, true, 'x'], b: { c: 10n ** 30n } });
  });

  it('refuses text that nests so deeply that reading it would overflow the stack', () => {
    expect(() => loadJson('['.repeat(100_000))).toThrow('Nested too deeply');
  });

  it('sorts only the outermost keys when asked to', () => {
    const value = loadJson('{"b": {"z": 1, "a": 2}, "a": 1}');
    expect(isDict(value)).toBe(true);
    expect(dumpJson(value, { sortKeys: 'outermost' })).toBe('{"a": 1, "b": {"z": 1, "a": 2}}');
  });

  it.each([
    [1, '1.0'],
    [1e5, '100000.0'],
    [1e15, '1000000000000000.0'],
    [1e16, '1e16'],
    [1e-5, '0.00001'],
    [1e-7, '1e-7'],
    [-1.5e300, '-1.5e300'],
  ])('writes %d as Rust does: %s', (value, text) => {
    expect(serdeFloat(value)).toBe(text);
  });

  it.each<[PythonValue, string]>([
    [['a', null], "['a', None]"],
    [["it's"], '["it\'s"]'],
    [new Map([['k', 1.5]]), "{'k': 1.5}"],
  ])('prints lists and objects as Python does: %s', (value, text) => {
    expect(pythonStr(value)).toBe(text);
  });
});

describe('TokenText', () => {
  it.each(helpers.utf8_decoder.map((vector) => [JSON.stringify(vector.feeds), vector] as const))(
    'never shows half a character: %s',
    (_name, vector) => {
      const text = new TokenText(tokenizerOf('stand-in'));
      expect(vector.feeds.map((tokens) => text.push(tokens) || null)).toEqual(vector.out);
      expect(text.flush()).toBe(vector.flush);
    },
  );
});
