import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandOrThrow } from '../gates/command.js';
import { workCopy } from '../gates/work-copy.js';
import { publishedPackages, type WorkspacePackage } from '../packages.mjs';
import type { LocalRegistry } from './local-registry.js';

/** A copy of the repository from which releases go to a local registry, by the commands of a real release. */
export class Rehearsal {
  readonly #folder: string;
  readonly #registry: LocalRegistry;

  private constructor(folder: string, registry: LocalRegistry) {
    this.#folder = folder;
    this.#registry = registry;
  }

  static async prepare(registry: LocalRegistry): Promise<Rehearsal> {
    const rehearsal = new Rehearsal(await workCopy(), registry);
    writeFileSync(join(rehearsal.#folder, '.npmrc'), registry.npmrc);
    writeFileSync(join(rehearsal.#folder, '.gitignore'), 'node_modules\ndist\ntemp\n.turbo\n*.tsbuildinfo\n.npmrc\n');
    await rehearsal.#git('init', '--quiet', '--initial-branch=main');
    await rehearsal.#commit('before the release');
    return rehearsal;
  }

  /**
   * Turns the pending changesets into versions and changelogs, and publishes.
   * @returns the tags of the release: `@tinkex/types@0.1.0`
   */
  async release(): Promise<string[]> {
    const before = new Set(await this.#tags());
    await commandOrThrow('changeset', ['version'], { cwd: this.#folder });
    await this.#commit('release');
    const env = { npm_config_registry: this.#registry.url };
    await commandOrThrow('npm', ['run', '--silent', 'release'], { cwd: this.#folder, env, timeoutMs: 900_000 });
    return (await this.#tags()).filter((tag) => !before.has(tag));
  }

  /** A change of one package that users can notice, with its changeset. */
  async patch({ id, folder }: WorkspacePackage): Promise<void> {
    writeFileSync(
      join(this.#folder, folder, 'src/patched.ts'),
      '/** Makes this release differ from the last one. */\nexport const PATCHED = true;\n',
    );
    writeFileSync(join(this.#folder, '.changeset/patch.md'), `---\n'${id}': patch\n---\n\nA fix.\n`);
    await this.#commit('a fix');
  }

  /** The versions in the registry. */
  async published(): Promise<Map<string, string | undefined>> {
    const versions = publishedPackages().map(async ({ id }) => [id, await this.#registry.latest(id)] as const);
    return new Map(await Promise.all(versions));
  }

  async #tags(): Promise<string[]> {
    const { stdout } = await this.#git('tag', '--list');
    return stdout.split('\n').filter((tag) => tag !== '');
  }

  async #commit(subject: string): Promise<void> {
    await this.#git('add', '--all');
    await this.#git('commit', '--quiet', '--message', subject);
  }

  #git(...args: string[]) {
    return commandOrThrow('git', ['-c', 'user.name=release', '-c', 'user.email=release@localhost', ...args], { cwd: this.#folder });
  }
}
