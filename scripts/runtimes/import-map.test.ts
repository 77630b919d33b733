import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importMap, resolveTarget } from './import-map.js';

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'tinkex-import-map-'));
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

function install(name: string, exports: unknown): void {
  mkdirSync(join(project, 'node_modules', name), { recursive: true });
  writeFileSync(join(project, 'node_modules', name, 'package.json'), JSON.stringify({ name, exports }));
}

describe('the import map', () => {
  it('has every entry point, as a browser resolves it', () => {
    install('@scope/one', {
      '.': { types: './index.d.ts', node: './node/index.js', default: './index.js' },
      './part': { import: { types: './part.d.ts', default: './part.js' }, require: './part.cjs' },
      './package.json': './package.json',
    });
    install('two', { '.': './two.js', './any/*': './any/*.js' });
    expect(importMap(project)).toEqual({
      imports: {
        '@scope/one': '/node_modules/@scope/one/index.js',
        '@scope/one/part': '/node_modules/@scope/one/part.js',
        two: '/node_modules/two/two.js',
      },
    });
  });

  it('takes the first condition that a browser fulfils', () => {
    expect(resolveTarget({ browser: './b.js', default: './d.js' })).toBe('./b.js');
    expect(resolveTarget({ import: { node: './n.js' }, default: './d.js' })).toBe('./d.js');
    expect(resolveTarget({ node: './n.js' })).toBeUndefined();
    expect(resolveTarget(null)).toBeUndefined();
  });
});
