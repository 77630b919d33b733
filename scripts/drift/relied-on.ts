import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { endpoints } from '../../packages/types/src/wire.js';
import { commandOrThrow } from '../gates/command.js';
import { root } from '../packages.mjs';
import type { Change } from './compare.js';

const CONFORMANCE = join(root, 'scripts/conformance');

/** Decides which parts of the followed picture our own code and scenarios need. Derived from them, never listed by hand. */
export async function findReliedOn(picturePy: string): Promise<(change: Change) => boolean> {
  const ourEndpoints = new Set(
    Object.values(endpoints).map(({ method, path }) => `endpoints ${method} ${path.replace(/\{[^}]*\}/g, '{}')}`),
  );
  const programs = (await readdir(CONFORMANCE)).filter((name) => name.endsWith('.py')).map((name) => join(CONFORMANCE, name));
  const uses = await commandOrThrow('python3', [picturePy, '--uses', ...programs]);
  const usedNames = new Set<string>(JSON.parse(uses.stdout));
  return ({ path, after }) => {
    if (after !== undefined) return false;
    const [section = '', name = ''] = path.split(' ');
    if (section === 'endpoints') return ourEndpoints.has(path);
    // Every protobuf field of the followed version is in our schema.
    if (section === 'protobuf') return true;
    if (section === 'signatures') return usedNames.has(name.split('.')[1] ?? '');
    return section === 'exports' && usedNames.has(name);
  };
}
