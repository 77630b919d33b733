import { expect, it } from 'vitest';
import { csvText } from './csv.js';
import { nearest } from './nearest-name.js';
import { createStyle } from './style.js';
import { renderTable } from './table.js';
import { textWidth } from './text-width.js';

const COLUMNS = [
  { header: 'Name', value: ([name]: readonly string[]) => name ?? '' },
  { header: 'Text', value: ([, text]: readonly string[]) => text ?? '' },
];

it('breaks wide cells so that the table fits, and keeps the first column whole', () => {
  const table = renderTable(COLUMNS, [['an-identifier-of-30-characters', '=='.repeat(50)]], {
    isBoxed: true,
    columns: 60,
    style: createStyle(false),
  });
  const lines = table.trimEnd().split('\n');
  expect(lines.every((line) => textWidth(line) === 60)).toBe(true);
  expect(table).toContain('an-identifier-of-30-characters');
  expect(table.match(/=/g)).toHaveLength(100);
});

it('fits many columns with long headers into a narrow terminal', () => {
  const columns = Array.from({ length: 9 }, (_, at) => ({ header: `a_long_name_of_column_${at}`, value: () => 'x'.repeat(5 * at) }));
  const table = renderTable(columns, [[]], { isBoxed: true, columns: 80, style: createStyle(false) });
  expect(new Set(table.trimEnd().split('\n').map(textWidth))).toEqual(new Set([80]));
});

it('counts wide characters as two columns and shows control characters', () => {
  const table = renderTable(COLUMNS, [['日本', 'a\u001b[31mb\nc']], { isBoxed: true, columns: 80, style: createStyle(true) });
  expect(new Set(table.trimEnd().split('\n').map(textWidth)).size).toBe(1);
  expect(table).toContain('a\\x1b[31mb↵c');
});

it('quotes CSV cells where it must', () => {
  expect(
    csvText([
      { a: 'x,y', b: null },
      { a: 'say "hi"', c: { d: 1 } },
    ]),
  ).toBe('a,b,c\r\n"x,y",,\r\n"say ""hi""",,"{""d"":1}"\r\n');
});

it('finds the name that was meant, and none when nothing is near', () => {
  expect(nearest('modle', ['id', 'model'])).toBe('model');
  expect(nearest('zebra', ['id', 'model'])).toBeUndefined();
});
