import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import * as frontDoor from '../src/index.js';
import * as wire from '../src/wire.js';

const src = fileURLToPath(new URL('../src', import.meta.url));

/** What a module loads at run time, directly or not: files below `src`, and packages by name. */
function loadedBy(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  if (!existsSync(join(src, file))) return seen;
  const code = readFileSync(join(src, file), 'utf8');
  for (const [, names = '', from = ''] of code.matchAll(/^(?:import|export) (?!type )(\{[^}]*\}|\* as \w+) from '([^']+)';/gm)) {
    const isTypesOnly =
      names.startsWith('{') &&
      names
        .slice(1, -1)
        .split(',')
        .every((name) => /^\s*(?:type .*)?$/.test(name));
    if (!isTypesOnly) loadedBy(from.startsWith('.') ? join(dirname(file), from).replace('.js', '.ts') : from, seen);
  }
  return seen;
}

describe('the front door', () => {
  it('loads no codec and no protobuf', () => {
    const loaded = [...loadedBy('index.ts')];
    expect(loaded).toContain('model-input/model-input.ts');
    expect(loaded.filter((file) => /^(?:@bufbuild|proto\/|endpoints\/|wire\/(?:codec|objects|scalars|training)\.)/.test(file))).toEqual([]);
  });

  it('has no name in common with the wire', () => {
    expect(Object.keys(frontDoor).filter((name) => Object.hasOwn(wire, name))).toEqual([]);
  });

  it('gives the classes that the wire reads and throws', () => {
    expect(wire.apiStatusError({ status: 404 })).toBeInstanceOf(frontDoor.NotFoundError);
    const prompt = frontDoor.ModelInput.fromInts([1]);
    expect(wire.sampleRequest.decode(wire.sampleRequest.encode({ prompt })).prompt).toBeInstanceOf(frontDoor.ModelInput);
  });
});
