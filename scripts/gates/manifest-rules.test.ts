import { expect, it } from 'vitest';
import { manifestProblems } from './manifest-rules.js';

const ROOT = { license: 'Apache-2.0', engines: { node: '>=20.19' } };
const GOOD = {
  type: 'module',
  sideEffects: false,
  license: 'Apache-2.0',
  engines: { node: '>=20.19' },
  exports: { '.': { '@tinkex/source': './src/index.ts', types: './a.d.ts', default: './a.js' }, './package.json': './package.json' },
  dependencies: { '@tinkex/types': 'workspace:^', zod: 'catalog:' },
  publishConfig: {
    access: 'public',
    provenance: true,
    exports: { '.': { types: './a.d.ts', default: './a.js' }, './package.json': './package.json' },
  },
};

it('has nothing to say about a good manifest', () => {
  expect(manifestProblems(GOOD, ROOT)).toEqual([]);
});

it.each([
  [
    'a new entry point that would not be published',
    { exports: { ...GOOD.exports, './more': { default: './more.js' } } },
    'publishConfig.exports',
  ],
  ['a version outside the catalog', { dependencies: { zod: '^4.0.0' } }, 'zod as ^4.0.0'],
  ['a sibling that is not linked', { devDependencies: { '@tinkex/http': 'catalog:' } }, '@tinkex/http as catalog:'],
  ['side effects', { sideEffects: true }, 'sideEffects'],
  ['another Node range', { engines: { node: '>=18' } }, 'engines'],
  ['a command that cannot be linked yet', { bin: './dist/main.js' }, 'bin'],
  ['no provenance', { publishConfig: { ...GOOD.publishConfig, provenance: false } }, 'provenance'],
])('objects to %s', (_, change, sentence) => {
  const problems = manifestProblems({ ...GOOD, ...change }, ROOT);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(sentence);
});
