import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ValidationError } from '../index.js';
import { parseJson, stringifyJson } from '../wire.js';

describe('stringifyJson', () => {
  it('writes bigints as integers and typed arrays as arrays', () => {
    const value = {
      a: 2n ** 63n,
      b: Int32Array.of(1, -2),
      c: Float32Array.of(0.5),
      d: BigInt64Array.of(-5n, 2n ** 60n),
      e: BigInt64Array.of(1n),
      f: [1n, [2n]],
    };
    expect(stringifyJson(value)).toBe('{"a":9223372036854775808,"b":[1,-2],"c":[0.5],"d":[-5,1152921504606846976],"e":[1],"f":[1,[2]]}');
  });

  it('writes arrays of equal length one after the other without mixing them up', () => {
    expect(
      stringifyJson([Int32Array.of(1, 2), Int32Array.of(3, 4), Float32Array.of(0.5, 2), Float32Array.of(1, 1), BigInt64Array.of(5n, 6n)]),
    ).toBe('[[1,2],[3,4],[0.5,2],[1,1],[5,6]]');
  });

  it('writes every integer of 32 bits as JSON.stringify does', () => {
    const edges = [0, 1, 9, 10, 99, 100, 999, 1000, 9999, 10_000, 99_999, 100_000, 999_999, 1_000_000, 9_999_999, 10_000_000, 99_999_999];
    const values = [...edges, 100_000_000, 999_999_999, 1_000_000_000, 2_147_483_647, -2_147_483_648, -2_147_483_647];
    const both = [...values, ...values.map((value) => -value - 1)];
    // A few, many, and more than become text at a time; the longest text there is, and with a short last one.
    const longest = Array.from({ length: 4_096 }, () => -2_147_483_648);
    const lists = [both, Array.from({ length: 100 }, () => both).flat(), longest, [...longest.slice(1), 7], [...longest, ...both]];
    for (const list of lists) {
      expect(stringifyJson(Int32Array.from(list))).toBe(JSON.stringify(list));
      expect(stringifyJson(BigInt64Array.from(list, BigInt))).toBe(JSON.stringify(list));
    }
    fc.assert(
      fc.property(
        fc.int32Array({ maxLength: 300, size: 'max' }),
        fc.float32Array({ noNaN: true, noDefaultInfinity: true }),
        fc.string({ unit: 'binary' }),
        (integers, floats, text) => {
          expect(stringifyJson([text, integers, floats])).toBe(JSON.stringify([text, Array.from(integers), Array.from(floats)]));
        },
      ),
    );
  });

  it('leaves out undefined fields and keeps text as it is', () => {
    expect(stringifyJson({ a: undefined, 'ü"': 'é\n', n: null, big: 1n })).toBe('{"ü\\"":"é\\n","n":null,"big":1}');
  });

  it.each([
    [{ a: [1, Number.NaN] }, /a\[1\] is NaN/],
    [{ a: Float32Array.of(1, Number.POSITIVE_INFINITY) }, /a\[1\] is Infinity/],
    [{ 'a b': { c: Number.NEGATIVE_INFINITY } }, /\["a b"\]\.c is -Infinity/],
    [{ a: new Map() }, /a is an object that is neither plain nor an array/],
    [{ a: () => 1 }, /a is a function/],
    [{ a: Symbol('x') }, /a is a symbol/],
  ])('refuses %o', (value, message) => {
    expect(() => stringifyJson(value as never)).toThrow(message);
    expect(() => stringifyJson(value as never)).toThrow(ValidationError);
  });

  it('refuses values that nest too deeply or contain themselves', () => {
    const circle: Record<string, never> = {};
    circle.self = circle as never;
    expect(() => stringifyJson(circle)).toThrow(/nests more than/);
  });

  it('agrees with JSON.stringify on everything JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(stringifyJson(value as never)).toBe(JSON.stringify(value));
        expect(stringifyJson([value, 1n] as never)).toBe(JSON.stringify([value, 1]));
      }),
    );
  });
});

describe('parseJson', () => {
  it('reads integers beyond 2^53 exactly, wherever they stand', () => {
    expect(
      parseJson('{"a":9007199254740993,"b":[-9007199254740993,1e300,0.12345678901234567890],"c":"9007199254740993 \\" 9007199254740993"}'),
    ).toEqual({
      a: 9007199254740993n,
      b: [-9007199254740993n, 1e300, 0.12345678901234568],
      c: '9007199254740993 " 9007199254740993',
    });
    expect(parseJson('9007199254740993')).toBe(9007199254740993n);
    expect(parseJson('{"int64:":9007199254740993,"b":"int64:5"}')).toEqual({ 'int64:': 9007199254740993n, b: 'int64:5' });
  });

  it('reads an integer beyond 2^53 exactly in the middle of a long list', () => {
    for (const few of ['1', '0.5', '9007199254740991', 'null', '"1"', '[]']) {
      for (const place of [0, 1, 2_500, 4_998, 4_999]) {
        const texts = Array.from({ length: 5_000 }, (_, index) => (index === place ? '-9007199254740993' : few));
        const read = parseJson(`[${texts.join(',')}]`) as unknown[];
        expect(read[place]).toBe(-9007199254740993n);
        expect(read[place === 0 ? 1 : 0]).toEqual(JSON.parse(few));
      }
    }
  });

  it('gives back every integer of 64 bits', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n })), fc.jsonValue(), (integers, other) => {
        const read = parseJson(stringifyJson({ integers, other: [JSON.stringify(other)] })) as { integers: (number | bigint)[] };
        expect(read.integers.map(BigInt)).toEqual(integers);
      }),
    );
  });

  it.each(['\\u0069nt64:12', 'in\\u0074\\u00364:abc', 'int64:\\u0031', '\\\\u0069nt64:1'])(
    'keeps text that looks like its own marks: %s',
    (spelt) => {
      const text = `{"text":"${spelt}","exact":9007199254740993}`;
      expect(parseJson(text)).toEqual({ text: (JSON.parse(text) as { text: string }).text, exact: 9007199254740993n });
    },
  );

  it('reads bytes', () => {
    expect(parseJson(new TextEncoder().encode('{"a":"é"}'))).toEqual({ a: 'é' });
  });

  it.each(['', '{', 'NaN', '{"a":NaN}', 'undefined', '[1,]', '\u0000'])('refuses %j', (text) => {
    expect(() => parseJson(text)).toThrow(ValidationError);
  });

  it('refuses bytes that are not UTF-8, and does not quote the text', () => {
    expect(() => parseJson(Uint8Array.of(0x22, 0xff, 0x22))).toThrow(ValidationError);
    const fails = () => parseJson('{"key": tml-secret');
    expect(fails).toThrow('the body is not JSON (18 characters)');
    expect(fails).toThrow(expect.not.objectContaining({ cause: expect.anything() }));
  });

  it('reads deeply nested text without overflowing the stack', () => {
    const depth = 20_000;
    expect(parseJson(`${'['.repeat(depth)}${']'.repeat(depth)}`)).toBeDefined();
  });

  it('reads hostile text in time that follows its length', () => {
    // Each of these took minutes when a part of the text was read again and again.
    const tildes = '~'.repeat(300_000);
    const exact = 12345678901234567890n;
    expect(parseJson(`["${tildes}int64:",12345678901234567890]`)).toEqual([`${tildes}int64:`, exact]);
    expect(parseJson(`["${tildes}",12345678901234567890]`)).toEqual([tildes, exact]);
    expect(parseJson(`["${'~int64:'.repeat(40_000)}",12345678901234567890]`)).toEqual(['~int64:'.repeat(40_000), exact]);
    expect(parseJson(`["${'\\u007eint64:'.repeat(9)}",12345678901234567890]`)).toEqual(['~int64:'.repeat(9), exact]);
  });
});
