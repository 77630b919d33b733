import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from '../run/workspace.mjs';

/** The program is compiled against the sources of the package, and runs with the package as it was installed. */
const UNDER_TEST: Readonly<Record<string, string>> = {
  '../../../packages/types/src/index.js': '@tinkex/types',
  '../../../packages/types/src/wire.js': '@tinkex/types/wire',
  '@tinkex/types': '@tinkex/types',
  '@tinkex/types/wire': '@tinkex/types/wire',
};

/** Writes the check program as one file of plain ESM, vectors included, and tells what it imports. */
export async function writeProgram(file: string): Promise<readonly string[]> {
  const bundle = await rolldown({
    input: join(root, 'scripts/runtimes/program/main.ts'),
    platform: 'neutral',
    plugins: [
      {
        name: 'the-installed-package',
        resolveId(source) {
          const id = UNDER_TEST[source];
          return id === undefined ? undefined : { id, external: true };
        },
      },
    ],
  });
  try {
    const { output } = await bundle.write({ file });
    return output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.imports : []));
  } finally {
    await bundle.close();
  }
}
