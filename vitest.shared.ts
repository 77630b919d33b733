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
      // Generous, because it only has to end what hangs: no test asserts a time, and a loaded machine is no reason to fail.
      testTimeout: 60_000,
      hookTimeout: 60_000,
      // Files share processes, which is several times faster than one for each. So every file must leave nothing behind; what it leaves is found by
      // the tests after it, some of which look for exactly that.
      isolate: false,
      // CI asks for one: a machine that starved a process for a minute is no reason to lose a change. The summary names each test that needed it.
      retry: Number(process.env.TINKEX_TEST_RETRIES ?? 0),
      restoreMocks: true,
      unstubEnvs: true,
      ...test,
    },
  });
}
