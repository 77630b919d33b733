import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandOrThrow } from '../gates/command.js';
import { temporaryFolder } from '../gates/temporary-folder.js';
import { root, workspacePackages } from '../packages.mjs';

/** What `changeset version` did to one package. */
export interface PlannedRelease {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** The changelog after the release. */
  readonly changelog: string;
}

/** The options of a {@link planReleases | plan}. */
export interface PlanOptions {
  /** The changesets to apply instead of the committed ones: file name to content. */
  readonly changesets?: Readonly<Record<string, string>>;
  /** The version every package has before, instead of the one in its manifest. */
  readonly startingVersion?: string;
}

/**
 * Lets changesets version a copy of the workspace's manifests, so that nothing here changes and no network is needed.
 * @returns the packages whose version changed, by name
 */
export async function planReleases(options: PlanOptions = {}): Promise<PlannedRelease[]> {
  const directory = temporaryFolder('release');
  copyManifests(directory, options);
  const git = (...args: string[]) =>
    commandOrThrow('git', ['-c', 'user.name=release', '-c', 'user.email=release@localhost', ...args], { cwd: directory });
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'before the release');
  await commandOrThrow(process.execPath, [join(root, 'node_modules/@changesets/cli/bin.js'), 'version'], { cwd: directory });
  return workspacePackages().flatMap(({ folder, manifest }) => {
    const after = JSON.parse(readFileSync(join(directory, folder, 'package.json'), 'utf8'));
    const from = options.startingVersion ?? manifest.version;
    if (after.version === from || after.private === true) return [];
    const changelog = join(directory, folder, 'CHANGELOG.md');
    return [{ id: after.name, from, to: after.version, changelog: existsSync(changelog) ? readFileSync(changelog, 'utf8') : '' }];
  });
}

function copyManifests(directory: string, { changesets, startingVersion }: PlanOptions): void {
  for (const file of ['package.json', 'pnpm-workspace.yaml', 'pnpm-lock.yaml']) cpSync(join(root, file), join(directory, file));
  for (const { folder, dir, manifest } of workspacePackages()) {
    mkdirSync(join(directory, folder), { recursive: true });
    const copy = startingVersion === undefined || manifest.private === true ? manifest : { ...manifest, version: startingVersion };
    writeFileSync(join(directory, folder, 'package.json'), JSON.stringify(copy, null, 2));
    if (existsSync(join(dir, 'CHANGELOG.md'))) cpSync(join(dir, 'CHANGELOG.md'), join(directory, folder, 'CHANGELOG.md'));
  }
  if (changesets === undefined) {
    cpSync(join(root, '.changeset'), join(directory, '.changeset'), { recursive: true });
  } else {
    mkdirSync(join(directory, '.changeset'));
    cpSync(join(root, '.changeset/config.json'), join(directory, '.changeset/config.json'));
    for (const [name, content] of Object.entries(changesets)) writeFileSync(join(directory, '.changeset', name), content);
  }
  // The changelog writer is loaded from here; the link is not committed.
  writeFileSync(join(directory, '.gitignore'), 'node_modules\n');
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'), 'dir');
}
