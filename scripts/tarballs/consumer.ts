import { existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { command, commandOrThrow } from '../gates/command.js';
import type { PublishedPackage } from '../gates/published-packages.js';
import { root } from '../run/workspace.mjs';
import type { InstallSet } from './install-sets.js';

/** Sub-paths that need an optional peer, and where the workspace has that peer. */
const PEERS: Readonly<Record<string, { readonly peer: string; readonly from: string; readonly isLoadable: boolean }>> = {
  '@tinkex/clients/autodiff': { peer: '@jax-js/jax', from: 'packages/clients', isLoadable: true },
  '@tinkex/telemetry/otel': { peer: '@opentelemetry/api', from: 'packages/telemetry', isLoadable: true },
  '@tinkex/testkit/msw': { peer: 'msw', from: 'packages/testkit', isLoadable: true },
  // vitest refuses to be loaded outside its own runner.
  '@tinkex/testkit/vitest': { peer: 'vitest', from: 'packages/testkit', isLoadable: false },
};

/** An empty project outside the workspace that installs packed packages, imports them and compiles against them. */
export class Consumer {
  readonly #directory: string;
  readonly #set: InstallSet;
  readonly #packages: readonly PublishedPackage[];

  constructor(directory: string, set: InstallSet, packages: readonly PublishedPackage[]) {
    this.#directory = directory;
    this.#set = set;
    this.#packages = packages.filter(({ name }) => set.packages.includes(name));
  }

  /** Installs from the tarballs; third parties come from the registry, ours from nowhere else. */
  async install(tarballs: ReadonlyMap<PublishedPackage, string>): Promise<void> {
    mkdirSync(this.#directory, { recursive: true });
    const dependencies = Object.fromEntries(this.#packages.map((one) => [one.id, `file:${tarballs.get(one)}`]));
    this.#write('package.json', { name: 'consumer', version: '1.0.0', private: true, type: 'module', dependencies });
    const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--loglevel=error', '--omit=optional'];
    await commandOrThrow('npm', args, { cwd: this.#directory });
  }

  /** Adds the optional peers, which users install themselves, and Node's types. Call it after {@link surprises}. */
  addPeers(): void {
    const peers = this.#specifiers().flatMap((specifier) => PEERS[specifier] ?? []);
    if (this.#set.hasNodeTypes) this.#link('@types/node', '.');
    for (const { peer, from } of peers) this.#link(peer, from);
  }

  /** Every installed package that the set does not name, and every named one that is missing. */
  surprises(): string[] {
    const installed = new Set(installedPackages(join(this.#directory, 'node_modules')));
    const expected = new Set(this.#set.installed);
    return [
      ...[...installed].filter((name) => !expected.has(name)).map((name) => `${name} was installed and should not be`),
      ...[...expected].filter((name) => !installed.has(name)).map((name) => `${name} was not installed`),
    ];
  }

  /**
   * Loads each entry point with `import` and with `require`, and checks that both give the same named exports; and that the entry points of
   * `@tinkex/types` share one copy of its classes.
   */
  async load(): Promise<string[]> {
    const specifiers = this.#specifiers().filter((specifier) => PEERS[specifier]?.isLoadable ?? true);
    const source = `
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
for (const specifier of ${JSON.stringify(specifiers)}) {
  const imported = Object.keys(await import(specifier)).sort();
  const required = Object.keys(require(specifier)).sort();
  if (imported.length === 0) throw new Error(specifier + ' exports nothing');
  if (imported.join() !== required.join()) throw new Error(specifier + ' differs between import and require');
  require(specifier.split('/').slice(0, 2).join('/') + '/package.json');
}
const [{ NotFoundError }, { apiStatusError }] = await Promise.all([import('@tinkex/types'), import('@tinkex/types/wire')]);
if (!(apiStatusError({ status: 404 }) instanceof NotFoundError)) throw new Error('the entry points of @tinkex/types have two copies of its classes');`;
    this.#write('load.mjs', source);
    const { code, output } = await command(process.execPath, ['load.mjs'], { cwd: this.#directory, env: { NODE_OPTIONS: undefined } });
    return code === 0 ? [] : [`loading failed:\n${output}`];
  }

  /**
   * Compiles a program that imports every entry point, with both module resolutions a user may have, checking our declarations too; once with and once
   * without `exactOptionalPropertyTypes`, which `strict` does not bring: what is right under one may be wrong under the other.
   */
  async compile(): Promise<string[]> {
    const specifiers = this.#specifiers();
    const lines = specifiers.map((specifier, index) => `import * as entry${index} from '${specifier}';`);
    this.#write(
      'index.ts',
      `${lines.join('\n')}\n\nexport const entries = [${specifiers.map((_, index) => `entry${index}`).join(', ')}];\n`,
    );
    const problems: string[] = [];
    for (const [moduleResolution, module, exactOptionalPropertyTypes] of [
      ['nodenext', 'nodenext', true],
      ['nodenext', 'nodenext', false],
      ['bundler', 'esnext', true],
    ]) {
      const compilerOptions = {
        ...{ target: 'es2022', lib: ['es2022', 'esnext.disposable'], module, moduleResolution, strict: true, noEmit: true },
        ...{ exactOptionalPropertyTypes, skipLibCheck: false, types: this.#set.hasNodeTypes ? ['node'] : [] },
      };
      this.#write('tsconfig.json', { compilerOptions, files: ['index.ts'] });
      const { code, output } = await command(join(root, 'packages/types/node_modules/.bin/tsc'), ['-p', '.', '--pretty', 'false'], {
        cwd: this.#directory,
      });
      // The declarations of third parties are not ours to mend; an error without a file (a bad option, a crash) is.
      const ours = output.split('\n').filter((line) => /^(?:index\.ts|node_modules\/@tinkex\/|error )/.test(line));
      const isCrash = code !== 0 && !output.includes('error TS');
      if (ours.length > 0 || isCrash) {
        const how = `moduleResolution ${moduleResolution}, exactOptionalPropertyTypes ${exactOptionalPropertyTypes}`;
        problems.push(`type-checking with ${how} failed:\n${isCrash ? output : ours.join('\n')}`);
      }
    }
    return problems;
  }

  /** Asks each installed command for its help. */
  async help(): Promise<string[]> {
    const commands = this.#packages.flatMap(({ commands }) => commands);
    const problems: string[] = [];
    for (const name of commands) {
      const { code, output } = await command(join(this.#directory, 'node_modules/.bin', name), ['--help'], { cwd: this.#directory });
      if (code !== 0 || !output.includes(name)) problems.push(`${name} --help failed (exit code ${code}):\n${output}`);
    }
    return problems;
  }

  #specifiers(): string[] {
    return this.#packages.flatMap(({ id, entries }) => entries.map(({ subpath }) => `${id}${subpath.slice(1)}`));
  }

  #link(name: string, from: string): void {
    const link = join(this.#directory, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(realpathSync(join(root, from, 'node_modules', name)), link, 'dir');
  }

  #write(file: string, content: string | object): void {
    writeFileSync(join(this.#directory, file), typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  }
}

function installedPackages(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) => {
      const own = name.startsWith('@') ? readdirSync(join(folder, name)).map((inner) => `${name}/${inner}`) : [name];
      return own.flatMap((one) => [one, ...installedPackages(join(folder, one, 'node_modules'))]);
    });
}
