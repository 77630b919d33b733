import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandOrThrow } from '../gates/command.js';
import { inParallel } from '../gates/in-parallel.js';
import { temporaryFolder } from '../gates/temporary-folder.js';
import { root, type WorkspacePackage } from '../packages.mjs';
import { installProject } from './install-project.js';
import type { LocalRegistry } from './local-registry.js';

/** Where the bills of materials of a release are written. */
export const SBOM_FOLDER = join(root, 'temp', 'sbom');

/**
 * Writes the bill of materials of each package (CycloneDX, by npm itself), from a project in which npm installed it alone from a registry: what a user gets.
 * @returns how many components each lists
 */
export async function writeSboms(
  packages: readonly WorkspacePackage[],
  versions: ReadonlyMap<string, string | undefined>,
  registry: Pick<LocalRegistry, 'url' | 'npmrc'>,
): Promise<Map<string, number>> {
  mkdirSync(SBOM_FOLDER, { recursive: true });
  const projects = temporaryFolder('sbom');
  const counts = await inParallel(packages, async ({ id, name }) => {
    const project = join(projects, name);
    await installProject(project, 'npm', { [id]: versions.get(id) ?? 'latest' }, registry);
    const { stdout } = await commandOrThrow('npm', ['sbom', '--sbom-format=cyclonedx', '--omit=dev', '--loglevel=error'], { cwd: project });
    writeFileSync(join(SBOM_FOLDER, `${name}.cdx.json`), stdout);
    return [id, (JSON.parse(stdout) as { components?: unknown[] }).components?.length ?? 0] as const;
  });
  return new Map(counts);
}
