/** Gate: the generated code is what the generator makes of the schema today. `npm run generate` brings it up to date. */
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { root } from '../packages.mjs';
import { commandOrThrow } from './command.js';
import { listFiles } from './files.js';
import { temporaryFolder } from './temporary-folder.js';
import { verdict } from './verdict.js';

const GENERATED = 'src/proto/gen';
const types = join(root, 'packages', 'types');
const directory = temporaryFolder('generated');
const PATH = `${join(types, 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}`;
await commandOrThrow('buf', ['generate', '--output', directory], { cwd: types, env: { PATH } });
const committed = readAll(join(types, GENERATED));
const fresh = readAll(join(directory, GENERATED));
const names = [...new Set([...committed.keys(), ...fresh.keys()])];
const different = names.filter((name) => committed.get(name) !== fresh.get(name));
const problems = different.map((name) => `packages/types/${GENERATED}/${name} differs from what the schema gives: npm run generate`);
verdict('check:generated', `${fresh.size} files`, fresh.size === 0 ? ['the generator wrote nothing'] : problems);

function readAll(folder: string): Map<string, string> {
  return new Map(listFiles(folder, /./).map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
}
