import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { describe, expect, it } from 'vitest';

const ENTRY = 'entry.ts';
const SOURCES = fileURLToPath(new URL('../src', import.meta.url));

/** What a browser loads: one minified file with all it imports. */
async function bundle(code: string): Promise<{ readonly imports: readonly string[]; readonly gzippedBytes: number }> {
  const build = await rolldown({
    input: ENTRY,
    platform: 'browser',
    resolve: { conditionNames: ['@tinkex/source', 'browser', 'import', 'default'] },
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === ENTRY ? id : null),
        load: (id) => (id === ENTRY ? code.replaceAll("'src/", `'${SOURCES}/`) : null),
      },
    ],
    // What cannot be resolved stays an import, which the test finds.
    logLevel: 'silent',
  });
  const { output } = await build.generate({ minify: true });
  await build.close();
  const chunks = output.filter((file) => file.type === 'chunk');
  return {
    imports: chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports]),
    gzippedBytes: gzipSync(chunks.map((chunk) => chunk.code).join('')).length,
  };
}

describe('a bundle for browsers', () => {
  it.each([
    {
      what: 'one family of renderers',
      code: `import { GrammarRenderer } from 'src/core/grammar-renderer.ts';
        import { qwen3 } from 'src/families/qwen3.ts';
        export const make = (tokenizer) => new GrammarRenderer('qwen3', tokenizer, qwen3({ framesThinking: true })({ tokenizer, options: {} }));`,
      limit: 30_000,
    },
    { what: 'getRenderer with all families', code: "export { getRenderer } from 'src/index.ts';", limit: 30_000 },
    { what: 'the whole package', code: "export * from 'src/index.ts';", limit: 80_000 },
  ])('$what stays below $limit bytes, gzipped, and imports nothing', async ({ what, code, limit }) => {
    const { imports, gzippedBytes } = await bundle(code);
    console.info(`${what}: ${gzippedBytes} bytes gzipped`);
    expect(imports).toEqual([]);
    expect(gzippedBytes).toBeGreaterThan(2_000);
    expect(gzippedBytes).toBeLessThanOrEqual(limit);
  });
});
