import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { command } from '../gates/command.js';
import { type Snippet, toDocumentPositions } from './snippets.js';

const TIME_LIMIT_MS = 60_000;

/** Runs a program of the documentation in a project that has what it imports. The result is what went wrong, with positions in the document. */
export async function runSnippet(snippet: Snippet, directory: string): Promise<string[]> {
  if (!snippet.isRun) return [];
  const { outputText } = ts.transpileModule(snippet.code, {
    fileName: `${snippet.name}.ts`,
    // `using` is newer than Node 20: it is compiled away, as a reader's compiler would do.
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, inlineSourceMap: true, inlineSources: true },
  });
  const script = join(directory, `${snippet.name}.js`);
  writeFileSync(script, outputText);
  // A document must not depend on what the reader's shell happens to contain.
  const env = { NODE_OPTIONS: undefined, TINKER_API_KEY: undefined, TINKER_BASE_URL: undefined };
  const { code, output } = await command(process.execPath, ['--enable-source-maps', script], {
    cwd: directory,
    env,
    timeoutMs: TIME_LIMIT_MS,
  });
  if (code === 0) return [];
  return [`${snippet.file}:${snippet.line}: ended with exit code ${code}\n${toDocumentPositions(output.trim(), [snippet])}`];
}
