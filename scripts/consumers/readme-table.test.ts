import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../packages.mjs';
import { NODE_VERSIONS, PINS as RUNTIMES } from '../runtimes/pins.js';
import { bundlerRows } from './bundler-rows.js';
import { NEXT_PINS } from './pins.js';
import { testRunnerRows } from './test-runner-rows.js';
import { typescriptRows } from './typescript-rows.js';
import { webAppRows } from './web-app-rows.js';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const [, table = ''] = /## Where it runs\n(.*?)\n## /s.exec(read('README.md')) ?? [];
const row = (name: string): string => table.split('\n').find((line) => line.startsWith(`| ${name} |`)) ?? '';
const minor = (version: string): string => version.split('.').slice(0, 2).join('.');

describe('the table of runtimes, bundlers, test runners and compilers in the README', () => {
  it('names the runtimes that the gates start', () => {
    expect(row('runtimes')).toContain(`Node ${NODE_VERSIONS.join(', ')}; Bun ${minor(RUNTIMES.bun)}; Deno ${minor(RUNTIMES.deno)};`);
    expect(read('package.json')).toContain(`"node": ">=${NODE_VERSIONS[0]}"`);
    expect(read('.ci/run')).toContain(`for version in ${NODE_VERSIONS.join(' ')};`);
    expect(read('.github/workflows/ci.yml')).toContain(`node: ["${NODE_VERSIONS.join(', ').replace(',', '",')}]`);
  });

  it('names every bundler and test runner that a project proves', () => {
    const named = `${row('runtimes')} ${row('bundlers')} ${row('test runners')}`.toLowerCase();
    for (const { name } of [...bundlerRows(), ...testRunnerRows()]) expect(named).toContain(name.split(',')[0]?.toLowerCase());
    expect(row('bundlers')).toContain(`Next.js ${NEXT_PINS.next.split('.')[0]} weekly`);
    expect(read('.github/workflows/weekly.yml')).toContain('check:consumers -- --next');
  });

  it('names every web framework of the guide that a project proves', () => {
    for (const { name } of webAppRows()) expect(row('web frameworks')).toContain(name.replace(' with the AI SDK', ''));
  });

  it('names the versions and resolutions of TypeScript that are compiled', () => {
    const rows = typescriptRows();
    for (const part of rows.flatMap(({ name }) => name.replace('TypeScript ', '').split(', ').slice(0, 2))) {
      expect(row('TypeScript')).toMatch(new RegExp(`[ \`]${part}[ ,(\`]`));
    }
    expect(row('TypeScript')).toContain(`all ${rows.length} weekly`);
    expect(read('.github/workflows/weekly.yml')).toContain('check:consumers -- --full');
  });
});
