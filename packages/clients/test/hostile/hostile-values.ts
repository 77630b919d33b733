/** JSON text for values that no field expects; text, because some of them no JavaScript value can express. */
export const HOSTILE_JSON: readonly string[] = [
  'null',
  'true',
  '-1',
  '0.5',
  '1e308',
  '1e999',
  '-1e999',
  '9007199254740993',
  '1'.repeat(400),
  '""',
  '"\\u0000"',
  '"\\ud800"',
  '"../../../etc/passwd"',
  '"tinker://../../x"',
  '"%2e%2e%2f"',
  '"a\\r\\nx-injected: 1"',
  '"NaN"',
  '"1e999"',
  '[]',
  '[[[[[[]]]]]]',
  '[null]',
  '{}',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"toString":1,"valueOf":2,"then":3,"length":-1}',
];

/** Long text on which careless patterns backtrack. Read in quadratic time, a million characters take hours. */
export function longTexts(length: number): readonly string[] {
  const units = [
    '1',
    ' ',
    'a',
    '-',
    '/',
    '.',
    ':',
    '~',
    '%',
    '\\n',
    '\\"',
    '0,',
    '[',
    '<Code>',
    'https://',
    'tinker://',
    '1e',
    'eyJ',
    'é',
    '=&',
  ];
  return units.map((unit) => unit.repeat(Math.ceil(length / unit.length)));
}

/** Every way to put a hostile value in the place of one of these, or beside it: the texts of JSON documents. */
export function mutations(value: unknown, hostile: string): readonly string[] {
  const found: string[] = [];
  const whole = (text: string): string => text;
  visit(value, whole, hostile, found);
  return found;
}

function visit(value: unknown, inContext: (text: string) => string, hostile: string, found: string[]): void {
  found.push(inContext(hostile));
  if (Array.isArray(value)) {
    value.forEach((item, index) => {
      const around = (text: string): string => `[${value.map((other, at) => (at === index ? text : JSON.stringify(other))).join(',')}]`;
      visit(item, (text) => inContext(around(text)), hostile, found);
    });
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const entries = Object.entries(value);
  for (const [key, item] of entries) {
    const around = (text: string): string =>
      `{${entries.map(([other, it]) => `${JSON.stringify(other)}:${other === key ? text : JSON.stringify(it)}`).join(',')}}`;
    visit(item, (text) => inContext(around(text)), hostile, found);
  }
  const beside = entries.map(([key, item]) => `${JSON.stringify(key)}:${JSON.stringify(item)},`).join('');
  found.push(inContext(`{${beside}"__proto__":${hostile},"unexpected":${hostile}}`));
}
