// Before the tests of apps/examples (vitest calls `setup`): bundles each program into apps/examples/temp. `npm start` runs them from the sources,
// and loading several hundred of those takes longer than most programs run; a bundle starts immediately.
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const examples = fileURLToPath(new URL('../../apps/examples/', import.meta.url));

export async function setup() {
  const programs = readdirSync(`${examples}src`).filter((file) => file.endsWith('.ts'));
  const bundle = await rolldown({
    input: programs.map((file) => `${examples}src/${file}`),
    platform: 'node',
    resolve: { conditionNames: ['@tinkex/source', 'node', 'import', 'default'] },
    transform: { target: 'node20' },
    logLevel: 'silent', // third parties' warnings
  });
  // Chunks have their own folder, so that every file is as deep as its source: programs find their data relative to themselves.
  await bundle.write({ dir: `${examples}temp`, format: 'esm', chunkFileNames: 'shared/[name].js' });
  await bundle.close();
}
