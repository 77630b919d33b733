import { expect, it } from 'vitest';
import { manifestProblems } from './rules.js';

const ROOT = { license: 'Apache-2.0', engines: { node: '>=20.19' } };
const GOOD = {
  type: 'module',
  sideEffects: false,
  license: 'Apache-2.0',
  engines: { node: '>=20.19' },
  dependencies: { '@tinkex/types': 'workspace:^', zod: 'catalog:' },
  publishConfig: {
    access: 'public',
  },
};
const SIBLINGS = new Set(['@tinkex/types', '@tinkex/http']);

it('has nothing to say about a good manifest', () => {
  expect(manifestProblems(GOOD, ROOT, SIBLINGS)).toEqual([]);
});

it.each([
  ['a version outside the catalog', { dependencies: { zod: '^4.0.0' } }, 'zod as ^4.0.0'],
  ['a sibling that is not linked', { devDependencies: { '@tinkex/http': 'catalog:' } }, '@tinkex/http as catalog:'],
  ['side effects', { sideEffects: true }, 'sideEffects'],
  ['another Node range', { engines: { node: '>=18' } }, 'engines'],
  ['a command that cannot be linked yet', { bin: './dist/main.js' }, 'bin'],
  ['provenance', { publishConfig: { ...GOOD.publishConfig, provenance: true } }, 'provenance'],
])('objects to %s', (_, change, sentence) => {
  const problems = manifestProblems({ ...GOOD, ...change }, ROOT, SIBLINGS);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(sentence);
});
