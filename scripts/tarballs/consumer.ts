import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { command, commandOrThrow } from '../gates/command.js';
import { root, TSC, type WorkspacePackage, withDependencies } from '../packages.mjs';

/** vitest refuses to be loaded outside its own runner. */
const LOADS_ONLY_IN_VITEST = /\/vitest$/;

/** An empty project outside the workspace that installs some packed packages, with what they depend on, imports them and compiles against them. */
export class Consumer {
  readonly #directory: string;
  /** What the user wants. */
  readonly #wanted: readonly WorkspacePackage[];
  /** The same and everything of ours below it. */
  readonly #installed: readonly WorkspacePackage[];

  constructor(directory: string, wanted: readonly WorkspacePackage[], packages: readonly WorkspacePackage[]) {
    this.#directory = directory;
    this.#wanted = wanted;
    const names = new Set(wanted.flatMap((one) => withDependencies(one, packages)).map(({ name }) => name));
    this.#installed = packages.filter(({ name }) => names.has(name));
  }

  /** Installs from the tarballs; third parties come from the registry, ours from nowhere else. */
  async install(tarballs: ReadonlyMap<string, string>): Promise<void> {
    mkdirSync(this.#directory, { recursive: true });
    const dependencies = Object.fromEntries(this.#installed.map(({ id }) => [id, `file:${tarballs.get(id)}`]));
    this.#write('package.json', { name: 'consumer', version: '1.0.0', private: true, type: 'module', dependencies });
    const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--loglevel=error', '--omit=optional'];
    await commandOrThrow('npm', args, { cwd: this.#directory });
  }

  /** Adds the optional peers, which users install themselves, and Node's types where the packages need them. */
  addPeers(): void {
    for (const { dir, manifest } of this.#installed) {
      for (const peer of Object.keys(manifest['peerDependencies'] ?? {})) this.#link(peer, dir);
    }
    if (this.#needsNode) this.#link('@types/node', root);
  }

  /** Every installed package that no manifest asks for, and every one that is missing. Call it before {@link addPeers}. */
  surprises(): string[] {
    const installed = new Set(installedPackages(join(this.#directory, 'node_modules')));
    const expected = new Set(this.#installed.flatMap(({ id, dir, manifest }) => [id, ...thirdParties(dir, manifest)]));
    return [
      ...[...installed].filter((name) => !expected.has(name)).map((name) => `${name} was installed and should not be`),
      ...[...expected].filter((name) => !installed.has(name)).map((name) => `${name} was not installed`),
    ];
  }

  /** Loads the main entry points without any optional peer. */
  async loadWithoutPeers(): Promise<string[]> {
    return this.#load(this.#wanted.flatMap(({ entries }) => entries.filter(({ subpath }) => subpath === '.')));
  }

  /** Loads each entry point with `import` and with `require`, and checks that both give the same named exports, and that the entry points of types share classes. */
  async load(): Promise<string[]> {
    return this.#load(this.#wanted.flatMap(({ entries }) => entries));
  }

  async #load(entries: WorkspacePackage['entries']): Promise<string[]> {
    const specifiers = entries.map(({ specifier }) => specifier).filter((specifier) => !LOADS_ONLY_IN_VITEST.test(specifier));
    const source = `
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
for (const specifier of ${JSON.stringify(specifiers)}) {
  const imported = Object.keys(await import(specifier)).sort();
  const required = Object.keys(require(specifier)).sort();
  if (imported.length === 0) throw new Error(specifier + ' exports nothing');
  if (imported.join() !== required.join()) throw new Error(specifier + ' differs between import and require');
}
for (const id of ${JSON.stringify(this.#wanted.map(({ id }) => id))}) require(id + '/package.json');
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
    const specifiers = this.#wanted.flatMap(({ entries }) => entries.map(({ specifier }) => specifier));
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
        ...{ exactOptionalPropertyTypes, skipLibCheck: false, types: this.#needsNode ? ['node'] : [] },
      };
      this.#write('tsconfig.json', { compilerOptions, files: ['index.ts'] });
      const { code, output } = await command(TSC, ['-p', '.', '--pretty', 'false'], { cwd: this.#directory });
      // The declarations of third parties are not ours to mend; an error without a file (a bad option, a crash) is.
      const ours = output.split('\n').filter((line) => /^(?:index\.ts|node_modules\/(?:@tinkex|tinkex)\/|error )/.test(line));
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
    const commands = this.#wanted.flatMap(({ commands }) => commands);
    const problems: string[] = [];
    for (const name of commands) {
      const { code, output } = await command(join(this.#directory, 'node_modules/.bin', name), ['--help'], { cwd: this.#directory });
      if (code !== 0 || !output.includes(name)) problems.push(`${name} --help failed (exit code ${code}):\n${output}`);
    }
    return problems;
  }

  get #needsNode(): boolean {
    return this.#installed.some(({ needsNode }) => needsNode);
  }

  #link(name: string, from: string): void {
    const link = join(this.#directory, 'node_modules', name);
    if (existsSync(link)) return;
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(realpathSync(join(from, 'node_modules', name)), link, 'dir');
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

/** What the dependencies of a manifest bring from the registry, by the manifests that are installed in the workspace. */
function thirdParties(dir: string, { dependencies = {} }: WorkspacePackage['manifest'], seen = new Set<string>()): Set<string> {
  for (const [name, version] of Object.entries<string>(dependencies)) {
    if (version.startsWith('workspace:') || seen.has(name)) continue;
    seen.add(name);
    const at = realpathSync(join(dir, 'node_modules', name));
    // pnpm puts the dependencies of a package beside it, in the folder that also contains the package itself.
    const beside = at.slice(0, at.lastIndexOf('node_modules'));
    thirdParties(beside, JSON.parse(readFileSync(join(at, 'package.json'), 'utf8')), seen);
  }
  return seen;
}
