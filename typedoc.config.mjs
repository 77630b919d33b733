import { OptionDefaults } from 'typedoc';
import { publishedPackages } from './scripts/packages.mjs';

/** The options that the whole reference and each package share; typedoc does not inherit them. */
const shared = {
  disableGit: true,
  gitRevision: 'main',
  sourceLinkTemplate: 'https://github.com/tinkex/tinkex-ts/blob/main/{path}#L{line}',
  validation: { invalidLink: true, notExported: false, notDocumented: false },
};

/** @type {Partial<import('typedoc').TypeDocOptions>} */
export default {
  name: 'Tinkex for TypeScript',
  entryPointStrategy: 'packages',
  entryPoints: publishedPackages().map(({ folder }) => folder),
  packageOptions: {
    ...shared,
    readme: 'none',
    excludePrivate: true,
    excludeInternal: true,
    // What a package exports of a sibling is described there, once.
    excludeExternals: true,
    externalPattern: ['**/node_modules/**', '**/dist/**'],
    // The tag protobuf's generator puts on everything it writes.
    blockTags: [...OptionDefaults.blockTags, '@generated'],
    excludeTags: [...OptionDefaults.excludeTags, '@generated'],
  },
  readme: 'none',
  out: 'temp/api',
  includeVersion: false,
  ...shared,
};
