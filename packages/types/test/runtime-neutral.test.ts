import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../src', import.meta.url));
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((file) => ({ file, code: readFileSync(join(root, file), 'utf8') }));

/** Comments and texts may speak of anything. */
const uncommented = (code: string) => code.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
const bare = (code: string) => uncommented(code).replace(/'(?:[^'\\\n]|\\.)*'|`[^`]*`/g, "''");

describe('the sources', () => {
  it('are found', () => expect(sources.length).toBeGreaterThan(40));

  it.each(sources)('$file imports only its own files and @bufbuild/protobuf', ({ code }) => {
    const imports = [...uncommented(code).matchAll(/(?:from|import)\s*\(?\s*["']([^"']+)["']/g)].map((match) => match[1] ?? '');
    for (const name of imports) expect(name).toMatch(/^(?:\.{1,2}\/.*\.js(?:on)?|@bufbuild\/protobuf(?:\/.*)?)$/);
  });

  it.each(sources)('$file uses no global that only Node or only browsers have', ({ code }) => {
    expect(bare(code)).not.toMatch(
      /\b(?:Buffer|process|require|__dirname|__filename|setImmediate|window|document|navigator|console|setTimeout|fetch)\b(?!['"]?:)/,
    );
  });
});
