import { after, create, type Recipe } from '../recipe.js';
import { changeset } from './changeset.js';

const MANIFEST = {
  name: '@tinkex/example',
  version: '0.0.0',
  description: 'A worked example.',
  license: 'Apache-2.0',
  type: 'module',
  sideEffects: false,
  repository: { type: 'git', url: 'git+https://github.com/tinkex/tinkex-ts.git', directory: 'packages/example' },
  engines: { node: '>=20.19' },
  exports: {
    '.': { '@tinkex/source': './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' },
    './package.json': './package.json',
  },
  files: ['dist', 'src', '!dist/.tsbuildinfo', '!src/**/*.test.ts', 'CHANGELOG.md'],
  scripts: { build: 'tsc -b && node ../../scripts/build/bundle.mjs', test: 'vitest run', typecheck: 'tsc -p tsconfig.check.json' },
  dependencies: { '@tinkex/types': 'workspace:^' },
  devDependencies: { typescript: 'catalog:', vitest: 'catalog:' },
  publishConfig: { access: 'public', provenance: true },
};
const BUILD = {
  extends: '../../tsconfig.base.json',
  compilerOptions: { composite: true, emitDeclarationOnly: true, rootDir: 'src', outDir: 'dist', tsBuildInfoFile: 'dist/.tsbuildinfo' },
  include: ['src'],
  exclude: ['src/**/*.test.ts'],
};
const CHECK = {
  extends: '../../tsconfig.base.json',
  compilerOptions: { noEmit: true },
  include: ['src', 'vitest.config.ts', '../../vitest.shared.ts'],
};
/** Written the way the formatter leaves it: short arrays on one line. */
const json = (value: unknown): string =>
  `${JSON.stringify(value, null, 2).replace(/\[\n\s+([^\]{]*?)\n\s+\]/g, (_, items: string) => `[${items.replace(/\s*\n\s*/g, ' ')}]`)}\n`;

/** `@tinkex/example`, a layer above types. */
export const addPackage: Recipe = {
  page: 'add-package',
  edits: [
    create('packages/example/package.json', json(MANIFEST)),
    create('packages/example/README.md', '# @tinkex/example\n\nA worked example.\n'),
    create('packages/example/tsconfig.json', json(BUILD)),
    create('packages/example/tsconfig.check.json', json(CHECK)),
    create(
      'packages/example/vitest.config.ts',
      "import { packageTests } from '../../vitest.shared.js';\n\nexport default packageTests('example');\n",
    ),
    create('packages/example/src/index.ts', "export { countTokens } from './count-tokens.js';\n"),
    create(
      'packages/example/src/count-tokens.ts',
      `import { ModelInput } from '@tinkex/types';

/** How many tokens these are. */
export function countTokens(tokens: readonly number[]): number {
  return ModelInput.fromInts(tokens).length;
}
`,
    ),
    create(
      'packages/example/src/count-tokens.test.ts',
      `import { expect, it } from 'vitest';
import { countTokens } from './count-tokens.js';

it('counts tokens', () => {
  expect(countTokens([1, 2, 3])).toBe(3);
});
`,
    ),
    after('ARCHITECTURE.md', '|---|---|---|\n', '| `@tinkex/example` | a worked example | everything else |\n'),
    changeset('First version.', 'example'),
  ],
  typecheck: ['example'],
  tests: { example: ['src'] },
};
