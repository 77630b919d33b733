import { publishedPackages } from './scripts/packages.mjs';

/** Commands are in `publishConfig`, where knip does not search for entry points. */
const withCommands = publishedPackages().map(({ folder, manifest }) => {
  const commands = Object.values(manifest.publishConfig?.bin ?? {}).map((file) => file.replace('./dist/', 'src/').replace('.js', '.ts'));
  return [folder, { entry: commands, project: ['{src,test}/**/*.ts'] }];
});

/** @type {import('knip').KnipConfig} */
export default {
  ignoreExportsUsedInFile: true,
  // Generated: every message of the schema has its export.
  ignoreIssues: { 'packages/types/src/proto/gen/**': ['exports'] },
  workspaces: {
    '.': {
      entry: ['scripts/run/main.mjs', 'scripts/runtimes/harness.ts', 'scripts/build/bundle.mjs'],
      project: ['{scripts,vectors}/**/*.{ts,mjs}', '*.{ts,mjs}'],
      vitest: { config: ['scripts/vitest.config.ts'], entry: ['scripts/**/*.test.ts'] },
      // Of the system: a hostile disk is a full one.
      ignoreBinaries: ['mount', 'umount'],
      // Programs that are only started, or installed apart (scripts/site/program).
      ignoreDependencies: ['@arethetypeswrong/cli', 'axe-core', 'playwright-core', 'pnpm', 'publint'],
    },
    ...Object.fromEntries(withCommands),
    // The page is bundled from its own entry.
    'packages/inspector': {
      entry: ['src/page/main.tsx'],
      project: ['{src,test}/**/*.{ts,tsx}'],
      // Resolved as a file, because it runs inside the page.
      ignoreDependencies: ['axe-core'],
    },
    'apps/examples': { entry: ['src/*.ts'], project: ['{src,test}/**/*.ts'] },
    bench: { entry: ['*/*.ts'], project: ['**/*.ts'] },
  },
};
