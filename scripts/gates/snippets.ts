/**
 * Gate: the programs in the documentation compile and run, against the built packages, as a reader would use them.
 * Arguments narrow it down to documents whose path contains one of them.
 */

import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runSnippet } from '../docs/run-snippet.js';
import { findSnippets, toDocumentPositions } from '../docs/snippets.js';
import { publishedPackages, root, TSC, workspacePackages } from '../packages.mjs';
import { command } from './command.js';
import { inParallel } from './in-parallel.js';
import { build } from './pack.js';

import { verdict } from './verdict.js';

const directory = join(root, 'temp', 'snippets');

const wanted = process.argv.slice(2);
const snippets = findSnippets(root).filter(({ file }) => wanted.length === 0 || wanted.some((part) => file.includes(part)));
await build();
prepare();
const problems = [...(await compile()), ...(await inParallel(snippets, (snippet) => runSnippet(snippet, directory))).flat()];
if (snippets.length === 0) problems.push('the documentation contains no program at all');
verdict('docs:snippets', `${snippets.length} programs compiled, ${snippets.filter(({ isRun }) => isRun).length} of them run`, problems);

/** A project that has every published package and, for the few documents that show them, the third parties the packages are tested with. */
function prepare(): void {
  rmSync(directory, { recursive: true, force: true });
  const link = (name: string, target: string): void => {
    const path = join(directory, 'node_modules', name);
    if (existsSync(path)) return;
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path, 'dir');
  };
  for (const { id, dir } of publishedPackages()) link(id, dir);
  for (const { dir } of workspacePackages()) {
    for (const name of dependenciesIn(join(dir, 'node_modules'))) link(name, join(dir, 'node_modules', name));
  }
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ name: 'snippets', private: true, type: 'module' }));
  const compilerOptions = {
    ...{
      target: 'es2022',
      lib: ['es2023', 'esnext.disposable'],
      module: 'nodenext',
      moduleResolution: 'nodenext',
      moduleDetection: 'force',
    },
    ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: true, noEmit: true, types: ['node'] },
  };
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  for (const { name, code } of snippets) writeFileSync(join(directory, `${name}.ts`), code);
}

function dependenciesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) => (name.startsWith('@') ? readdirSync(join(folder, name)).map((inner) => `${name}/${inner}`) : [name]));
}

async function compile(): Promise<string[]> {
  const { code, output } = await command(TSC, ['-p', directory, '--pretty', 'false'], { cwd: directory });
  return code === 0 ? [] : [toDocumentPositions(output.trim(), snippets)];
}
