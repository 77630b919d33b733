import { OptionDefaults } from 'typedoc';

/** What the whole and each package have in common; typedoc does not pass it on by itself. */
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
  entryPoints: ['packages/types', 'packages/renderers', 'packages/http', 'packages/telemetry', 'packages/clients', 'packages/testkit'],
  packageOptions: {
    ...shared,
    readme: 'README.md',
    excludePrivate: true,
    excludeInternal: true,
    // The tag protobuf's generator puts on everything it writes.
    blockTags: [...OptionDefaults.blockTags, '@generated'],
    excludeTags: [...OptionDefaults.excludeTags, '@generated'],
  },
  readme: 'README.md',
  out: 'docs/api',
  includeVersion: false,
  ...shared,
};
