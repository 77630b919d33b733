import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** The test settings every package shares: sources of siblings instead of builds, results as JSON for the summary line. */
export function packageTests(name: string, test: ViteUserConfig['test'] = {}): ViteUserConfig {
  const conditions = ['@tinkex/source', 'module', 'node', 'import', 'default'];
  return defineConfig({
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      name,
      include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
      reporters: ['default', 'json'],
      outputFile: { json: '.vitest/results.json' },
      testTimeout: 20_000,
      ...test,
    },
  });
}
