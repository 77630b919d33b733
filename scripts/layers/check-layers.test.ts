import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publishedPackages } from '../packages.mjs';
import { checkLayers } from './check-layers.js';
import type { LayerProblem } from './layer-problem.js';

/** A small workspace; each file below breaks one rule, or none. */
const FILES: Record<string, string> = {
  'packages/types/src/index.ts': "export { pure } from './pure.js';\n",
  'packages/types/src/pure.ts': "import { message } from './proto/message.js';\n\nexport const pure = message;\n",
  'packages/types/src/proto/message.ts': "import { create } from '@bufbuild/protobuf';\n\nexport const message = create;\n",
  'packages/types/src/impure.ts': "import { readFileSync } from 'node:fs';\n\nexport const read = readFileSync;\n",
  'packages/types/src/upward.ts': "import { http } from '@tinkex/http';\n\nexport const up = http;\n",
  'packages/types/src/cycle-a.ts': "import { b } from './cycle-b.js';\n\nexport const a = (): unknown => b;\n",
  'packages/types/src/cycle-b.ts': "import { a } from './cycle-a.js';\n\nexport const b = (): unknown => a;\n",
  'packages/types/src/whole.ts':
    "import { part } from './part.js';\n\nexport type Whole = { readonly name: string };\nexport const whole = part({ name: '' });\n",
  'packages/types/src/part.ts': "import type { Whole } from './whole.js';\n\nexport const part = (whole: Whole): string => whole.name;\n",
  'packages/types/src/errors/error.ts': "import type { codec } from '../wire/codec.js';\n\nexport type Error = typeof codec;\n",
  'packages/types/src/wire/codec.ts': "import { read } from '../errors/reader.js';\n\nexport const codec = read;\n",
  'packages/types/src/errors/reader.ts': 'export const read = 1;\n',
  'packages/types/src/nowhere/lost.ts': "import { read } from '../errors/reader.js';\n\nexport const lost = read;\n",
  'packages/types/src/json/entry.ts': "import { pure } from '../index.js';\n\nexport const entry = pure;\n",
  'packages/http/src/index.ts': "export { http } from './transport/http.js';\n",
  'packages/http/src/transport/http.ts':
    "import { pure } from '@tinkex/types';\nimport { request } from 'undici';\n\nexport const http = [pure, request];\n",
  'packages/http/src/deep.ts': "import { pure } from '@tinkex/types/src/pure.js';\n\nexport const deep = pure;\n",
  'packages/http/src/relative.ts': "import { pure } from '../../types/src/index.js';\n\nexport const relative = pure;\n",
  'packages/http/src/wrong-undici.ts': "import { request } from 'undici';\n\nexport const raw = request;\n",
  'packages/http/src/wrong-proto.ts': "import { create } from '@bufbuild/protobuf';\n\nexport const proto = create;\n",
  'packages/http/src/undeclared.ts': "import leftPad from 'left-pad';\n\nexport const pad = leftPad;\n",
  'packages/http/src/peer.ts': "import { peer } from 'optional-peer';\n\nexport const used = peer;\n",
  'packages/http/src/development.ts': "import { dev } from 'only-dev';\n\nexport const used = dev;\n",
  'packages/http/src/development.test.ts': "import { dev } from 'only-dev';\n\nexport const used = dev;\n",
  'packages/http/src/missing.ts': "import { gone } from './gone.js';\n\nexport const lost = gone;\n",
  'packages/http/src/uses-a-test.ts': "import { http } from './http.test.js';\n\nexport const tested = http;\n",
  'packages/http/src/http.test.ts': "export { http } from './index.js';\n",
  'packages/http/src/environment.ts': 'export const key = process.env.TINKER_API_KEY;\n',
  'packages/http/src/second-environment.ts': "import { env } from 'node:process';\n\nexport const other = env.HOME;\n",
  'packages/http/src/mentions-environment.ts': '// process.env is read elsewhere\nexport const mention = 1;\n',
  'packages/telemetry/src/index.ts': "import type { http } from '@tinkex/http';\n\nexport type Telemetry = typeof http;\n",
  'packages/telemetry/src/sideways.ts': "import { testkit } from '@tinkex/testkit';\n\nexport const sideways = testkit;\n",
  'packages/telemetry/src/upward-type.ts': "import type { clients } from '@tinkex/clients';\n\nexport type Up = typeof clients;\n",
  'packages/telemetry/test/with-testkit.test.ts': "import { testkit } from '@tinkex/testkit';\n\nexport const used = testkit;\n",
  'packages/clients/src/index.ts': "import '@tinkex/telemetry';\n\nexport const clients = 1;\n",
  'packages/clients/src/only-environment.ts': "export const only = process.env['HOME'];\n",
  'packages/clients/src/runtime/first.ts': "import type { Last } from '../service/last.js';\n\nexport type First = Last;\n",
  'packages/clients/src/service/last.ts': "import { only } from '../only-environment.js';\n\nexport type Last = typeof only;\n",
  'packages/clients/src/service/in-order.ts': "import type { First } from '../runtime/first.js';\n\nexport type InOrder = First;\n",
  'packages/testkit/src/index.ts': 'export const testkit = 1;\n',
  'packages/testkit/test/with-clients.test.ts': "import { clients } from '@tinkex/clients';\n\nexport const used = clients;\n",
  'apps/examples/src/good.ts': "import { clients } from '@tinkex/clients';\n\nexport const good = clients;\n",
  'apps/examples/src/deep.ts': "import { sideways } from '@tinkex/telemetry/src/sideways.js';\n\nexport const bad = sideways;\n",
  'node_modules/undici/index.js': 'export const request = 1;\n',
  'node_modules/@bufbuild/protobuf/index.js': 'export const create = 1;\n',
  'node_modules/only-dev/index.js': 'export const dev = 1;\n',
  'node_modules/optional-peer/index.js': 'export const peer = 1;\n',
  'node_modules/left-pad/index.js': 'export default 1;\n',
};

const EXPECTED: Record<string, string[]> = {
  'packages/types/src/impure.ts': ['types-and-renderers-are-pure'],
  'packages/types/src/upward.ts': ['layer-types'],
  'packages/types/src/cycle-a.ts': ['no-circular'], // a cycle is reported once, where it was entered
  'packages/types/src/errors/error.ts': ['folder-order-types'],
  'packages/types/src/nowhere/lost.ts': ['folder-listed-types'],
  'packages/types/src/json/entry.ts': ['folder-entry-types'],
  'packages/http/src/deep.ts': ['no-deep-import'],
  'packages/http/src/relative.ts': ['no-relative-crossing'],
  'packages/http/src/wrong-undici.ts': ['undici-only-in-transport'],
  'packages/http/src/wrong-proto.ts': ['protobuf-only-in-proto'],
  'packages/http/src/undeclared.ts': ['no-undeclared-dependency'],
  'packages/http/src/development.ts': ['no-development-dependency'],
  'packages/http/src/missing.ts': ['no-unresolvable'],
  'packages/http/src/uses-a-test.ts': ['no-tests-in-sources'],
  'packages/http/src/environment.ts': ['one-environment-reader'],
  'packages/http/src/second-environment.ts': ['one-environment-reader'],
  'packages/telemetry/src/sideways.ts': ['layer-telemetry'],
  'packages/telemetry/src/upward-type.ts': ['layer-telemetry'],
  'packages/clients/src/runtime/first.ts': ['folder-order-clients'],
  'packages/testkit/test/with-clients.test.ts': ['layer-testkit-tests'],
  'apps/examples/src/deep.ts': ['no-deep-import'],
};

describe('checkLayers', () => {
  let directory: string;
  let modules: number;
  let problems: readonly LayerProblem[];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'tinkex-layers-'));
    writeWorkspace(directory);
    ({ modules, problems } = await checkLayers(directory));
  });

  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it.each(Object.keys(FILES).filter((file) => file.endsWith('.ts')))('judges %s as written down', (file) => {
    const rules = problems.filter(({ from }) => from === file).map(({ rule }) => rule);
    expect([...new Set(rules)]).toEqual(EXPECTED[file] ?? []);
  });

  it('covers every file', () => {
    expect(modules).toBeGreaterThanOrEqual(Object.keys(FILES).filter((file) => file.endsWith('.ts')).length);
  });
});

function writeWorkspace(directory: string): void {
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, file), text);
  };
  for (const [file, text] of Object.entries(FILES)) write(file, text);
  for (const { name } of publishedPackages()) {
    const declared = {
      dependencies: { undici: '*', '@bufbuild/protobuf': '*' },
      devDependencies: { 'only-dev': '*', 'optional-peer': '*' },
      peerDependencies: { 'optional-peer': '*' },
      peerDependenciesMeta: { 'optional-peer': { optional: true } },
    };
    // No exports map here: a deep import must be caught by the rule, not by the resolver.
    write(
      `packages/${name}/package.json`,
      JSON.stringify({ name: `@tinkex/${name}`, type: 'module', main: './src/index.ts', ...declared }),
    );
    mkdirSync(join(directory, 'node_modules/@tinkex'), { recursive: true });
    symlinkSync(join(directory, 'packages', name), join(directory, 'node_modules/@tinkex', name), 'dir');
  }
  for (const name of ['undici', '@bufbuild/protobuf', 'left-pad', 'only-dev', 'optional-peer']) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', type: 'module', main: './index.js' }));
  }
  write('apps/examples/package.json', JSON.stringify({ name: '@tinkex/examples', type: 'module' }));
}
