/**
 * Gate: comments, messages and the maintainers' pages avoid the phrases of the word list (scripts/prose/rules.ts).
 * Arguments narrow it down to files or folders: `npm run prose -- packages/http/src`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../packages.mjs';
import { checkProse } from '../prose/check-prose.js';
import { filesToCheck } from '../prose/scope.js';
import { verdict } from './verdict.js';

const files = filesToCheck(root, process.argv.slice(2));
const problems = files.flatMap((file) =>
  checkProse(file, readFileSync(join(root, file), 'utf8')).map(
    ({ line, column, phrase, write }) => `${file}:${line}:${column}: "${phrase}": write ${write}`,
  ),
);
verdict('prose', `${files.length} files`, files.length === 0 ? ['no file to check'] : problems);
