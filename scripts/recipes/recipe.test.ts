import { expect, it } from 'vitest';
import { after, applyEdits, before, create, disagreements, filesNamedBy } from './recipe.js';

it('applies edits in order, each at its only anchor', () => {
  expect(applyEdits('a.ts', 'one\ntwo\n', [after('a.ts', 'one\n', 'new\n'), before('a.ts', 'two', '$& ')])).toBe('one\nnew\n$& two\n');
  expect(applyEdits('b.ts', undefined, [create('b.ts', 'text')])).toBe('text');
});

it.each([
  ['missing', 'three', 0],
  ['ambiguous', 'one', 2],
])('rejects a %s anchor', (_, anchor, count) => {
  expect(() => applyEdits('a.ts', 'one one', [after('a.ts', anchor, 'x')])).toThrow(`occurs ${count} times`);
});

it('compares the list of a page with the files of its example', () => {
  const named = filesNamedBy('| file | change |\n|---|---|\n| `src/<area>.ts` | `x` |\n| `docs/a.md` | |\n\n`elsewhere.ts`\n');
  expect(named).toEqual(['src/<area>.ts', 'docs/a.md']);
  expect(disagreements(named, ['src/sessions.ts', 'docs/a.md'])).toEqual([]);
  expect(disagreements(named, ['src/sessions.ts', 'src/deep/other.ts'])).toEqual([
    'the page does not name src/deep/other.ts',
    'the example does not touch docs/a.md',
  ]);
});
