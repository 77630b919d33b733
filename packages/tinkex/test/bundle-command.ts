import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const PAGE_SCRIPT = new URL('../../../scripts/build/bundle-page.mjs', import.meta.url).href;
const folder = fileURLToPath(new URL('..', import.meta.url));

/** Before the tests, vitest calls it: bundles the command with the sources of its siblings into `temp/`. A bundle starts immediately, sources take a second. */
export async function setup(): Promise<void> {
  const bundle = await rolldown({
    input: { main: `${folder}src/main.ts`, index: `${folder}src/index.ts` },
    // Third parties stay where they are: some find their data relative to themselves.
    external: (id) => /^(?:@clack|commander|jiti|@huggingface|node:)/.test(id),
    platform: 'node',
    resolve: { conditionNames: ['@tinkex/source', 'node', 'import', 'default'] },
    transform: { target: 'node20' },
    logLevel: 'silent', // third parties' warnings
  });
  await bundle.write({ dir: `${folder}temp`, format: 'esm', chunkFileNames: 'shared/[name].js' });
  await bundle.close();
  // Where the bundled inspector looks for its page.
  const { bundlePage } = (await import(PAGE_SCRIPT)) as { bundlePage(outDir: string): Promise<void> };
  await bundlePage(`${folder}temp/shared/page`);
}
