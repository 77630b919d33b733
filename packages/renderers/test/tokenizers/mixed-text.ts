/** Seeded text of everything that tokenizers stumble over: code, many scripts, emoji, runs of whitespace, special tokens, lone surrogates. */

/** A generator of random integers below a limit: the same numbers everywhere. */
export function seededIntegers(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

const WORDS =
  'the of and to in is that for it with as was on be at by this have from or one had not but what all were when we there can an your which their said if do will each about how up out them then she many some so these would other into has more her two like him see time could no make than first been its who now people my made over did down only way find use may water long little very after words called just where most know'.split(
    ' ',
  );
const CODE = [
  'function add(left, right) {\n  return left + right;\n}\n',
  'for (let i = 0; i < 10; ++i) {\n\t\tsum += values[i] ?? 0;\n\t}\n',
  'def main(argv: list[str]) -> int:\n    print(f"{argv[0]!r:>10}")\n    return 0\n',
  '{"name": "getWeather", "arguments": {"city": "Zürich", "days": 3, "ok": true}}',
  'SELECT id, name FROM users WHERE id IN (1, 22, 333, 4444) -- comment\n',
  '<div class="a-b" data-x=\'1\'>&nbsp;&lt;tag/&gt;</div>\r\n',
  '#include <stdio.h>\nint *p = &x; x >>= 1; y = ~x ^ 0xDEADBEEF;\n',
  'https://example.com/a/b?c=d&e=%20#f user.name+tag@example.co.uk\n',
  'snake_case camelCase PascalCase SCREAMING_CASE kebab-case HTTPServer2Go\n',
  '$ git commit -m "fix: it\'s done" && npm run test:unit -- --watch=false\n',
];
const ADDED = [
  '<|im_start|>',
  '<|im_end|>',
  '<|endoftext|>',
  '<think>',
  '</think>',
  '<tool_call>',
  '<|begin_of_text|>',
  '<|eot_id|>',
  '<|start_header_id|>',
  '<｜User｜>',
  '<｜Assistant｜>',
  '<｜end▁of▁sentence｜>',
  '<|im_st',
  '<｜',
  '<|endofprompt|>',
  '<|fim_hole|>',
  '<｜fim▁begin｜>',
];
const CONTRACTIONS = ["'s", "'S", "'RE", "'ve", "'LL", "'m", "'D", "'t", "'ſ", '’s', "'ß", "s'", "'"];
const SPACES = [
  ' ',
  '  ',
  '    ',
  '\t',
  '\n',
  '\n\n',
  '\r\n',
  '\r',
  '\u00a0',
  '\u2003',
  '\u3000',
  '\u0085',
  '\u2028',
  '\u200b',
  '\ufeff',
  '\u001c',
  '\v',
  '\f',
];
const EMOJI = ['😀', '👩‍👩‍👧‍👦', '👍🏽', '🇨🇭', '1️⃣', '❤️', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🦀', '☃', '⌚️', '🤷🏿‍♀️', '©', '™'];
const ODD_DIGITS = ['²', '½', 'Ⅷ', '٣', '९', '４', '①', '𝟗', '〇', '1️'];
const LONE = ['\ud83d', '\udc00', 'a\ud800b', '\udfff\ud800'];
const CONTROLS = ['\u0000', '\u0001', '\u007f', '\u009f', '\u00ad', '\ufffd', '\uffff', '\u202e', '\u0378'];

/** Blocks of code points that every supported runtime and the reference classify alike. */
const BLOCKS: readonly (readonly [first: number, last: number])[] = [
  [0xc0, 0x24f], // Latin
  [0x370, 0x377], // Greek
  [0x391, 0x3a1],
  [0x3b1, 0x3c9],
  [0x400, 0x481], // Cyrillic
  [0x5d0, 0x5ea], // Hebrew
  [0x620, 0x64a], // Arabic, then its marks
  [0x64b, 0x65f],
  [0x904, 0x939], // Devanagari, then its marks
  [0x93e, 0x94d],
  [0xe01, 0xe3a], // Thai
  [0x10a0, 0x10c5], // Georgian
  [0x1100, 0x11ff], // Hangul Jamo, which NFC composes
  [0x1e00, 0x1eff],
  [0x2010, 0x2027], // punctuation
  [0x2190, 0x21ff], // arrows
  [0x2200, 0x22ff], // mathematics
  [0x3041, 0x3096], // Hiragana
  [0x30a1, 0x30fa], // Katakana
  [0x3400, 0x34ff],
  [0x4e00, 0x9fa5], // Han, with the blocks around it
  [0x4e00, 0x4fff],
  [0x9fa6, 0x9fd5],
  [0xac00, 0xd7a3], // Hangul
  [0xf900, 0xfa6d], // compatibility ideographs, which NFC replaces
  [0xff01, 0xff5e], // full width
  [0x1_0330, 0x1_034a], // Gothic
  [0x1_d400, 0x1_d454], // mathematical letters
  [0x1_f600, 0x1_f64f], // emoticons
  [0x2_0000, 0x2_00ff], // Han, second plane
];

type Random = (limit: number) => number;
const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)] as T;
const repeat = (random: Random, most: number, make: () => string): string => Array.from({ length: 1 + random(most) }, make).join('');

function blockText(random: Random): string {
  const [first, last] = pick(random, BLOCKS);
  return repeat(random, 24, () => String.fromCodePoint(first + random(last - first + 1)));
}

const MAKERS: readonly ((random: Random) => string)[] = [
  (random) => repeat(random, 30, () => ` ${pick(random, WORDS)}`),
  (random) =>
    repeat(
      random,
      8,
      () => `${pick(random, WORDS)[random(2) ? 'toUpperCase' : 'toString']()}${pick(random, [', ', '. ', '! ', '…', '?\n', ' '])}`,
    ),
  (random) => pick(random, CODE),
  (random) => `${' '.repeat(random(40))}${pick(random, CODE)}`,
  blockText,
  blockText,
  (random) => repeat(random, 12, () => `${pick(random, 'aeiounAEcCsS'.split(''))}${String.fromCodePoint(0x300 + random(0x34))}`),
  (random) => repeat(random, 6, () => pick(random, EMOJI)),
  (random) => repeat(random, 10, () => pick(random, SPACES)),
  (random) => `${pick(random, SPACES).repeat(1 + random(60))}${pick(random, WORDS)}`,
  (random) => repeat(random, 12, () => String(random(10))),
  (random) => repeat(random, 4, () => pick(random, ODD_DIGITS)),
  (random) => repeat(random, 4, () => `${pick(random, WORDS)}${pick(random, CONTRACTIONS)}${pick(random, ['', ' ', 'x', 'ed'])}`),
  (random) => pick(random, ADDED),
  (random) => repeat(random, 3, () => `${pick(random, ADDED)}${pick(random, WORDS)}`),
  (random) => pick(random, CONTROLS),
  (random) => repeat(random, 30, () => pick(random, '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~\n/'.split(''))),
  (random) => repeat(random, 60, () => pick(random, 'ABCDEFGHabcdefgh0123456789+/'.split(''))),
];

/** Texts of about 2,500 characters, `count` of them. Without lone surrogates unless `hasLoneSurrogates`. */
export function mixedTexts(seed: number, count: number, { hasLoneSurrogates = false } = {}): string[] {
  const random = seededIntegers(seed);
  return Array.from({ length: count }, (_, index) => {
    if (index % 200 === 199) return pick(random, ['a', 'ab', ' ', '中', '=', '\n', 'é', '😀']).repeat(3_000);
    let text = '';
    while (text.length < 2_500) text += hasLoneSurrogates && random(8) === 0 ? pick(random, LONE) : pick(random, MAKERS)(random);
    return text;
  });
}
