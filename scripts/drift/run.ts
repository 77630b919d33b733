/**
 * Shows how versions of the reference SDK differ from the one we follow. Reads their wheels; runs nothing of them and no service.
 *
 *   pnpm drift                     the newest version on PyPI
 *   pnpm drift 0.37.0 0.38.0       these versions
 *   pnpm drift --from=0.30.4 0.31.0   compares with another picture than the followed one
 *   pnpm drift --write 0.37.0      also commits their pictures to `pictures/`
 *
 * Fails when something that our code or a conformance scenario relies on is gone.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { REFERENCE_SDK_VERSION } from '../../packages/http/src/index.js';
import { skip } from '../gates/verdict.js';
import { comparePictures, describeChange, type Picture } from './compare.js';
import { findReliedOn } from './relied-on.js';
import { drawVersion, NoWheel } from './wheels.js';

const HERE = import.meta.dirname;
const PICTURE_PY = join(HERE, 'picture.py');
const picturePath = (version: string): string => join(HERE, 'pictures', `${version}.json`);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { from: { type: 'string', default: REFERENCE_SDK_VERSION }, write: { type: 'boolean', default: false } },
});

const followed = JSON.parse(await readFile(picturePath(values.from), 'utf8')) as Picture;
const isReliedOn = await findReliedOn(PICTURE_PY);
for (const wanted of positionals.length === 0 ? ['newest'] : positionals) await showDrift(wanted);

async function showDrift(wanted: string): Promise<void> {
  const drawn = await drawVersion(PICTURE_PY, wanted).catch((error: unknown) => {
    if (error instanceof NoWheel) return error;
    throw error;
  });
  if (drawn instanceof NoWheel) {
    skip(`tinker ${wanted}`, drawn.message);
    return;
  }
  const { version, picture } = drawn;
  if (values.write) await writeFile(picturePath(version), `${JSON.stringify(picture, undefined, 2)}\n`);
  const changes = comparePictures(followed, picture);
  console.log(`tinker ${version} against ${values.from}: ${changes.length === 0 ? 'no difference' : `${changes.length} differences`}`);
  for (const change of changes) console.log(`  ${describeChange(change)}`);
  const missing = changes.filter((change) => isReliedOn(change));
  if (missing.length === 0) return;
  console.error(`\n${missing.length} of them are gone although we rely on them:`);
  for (const change of missing) console.error(`  ${describeChange(change)}`);
  process.exitCode = 1;
}
