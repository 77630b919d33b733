import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandOrThrow } from '../gates/command.js';
import { root } from '../packages.mjs';

/** Where the bills of materials of a release are written. */
export const SBOM_FOLDER = join(root, 'temp', 'sbom');

/**
 * Writes the bill of materials of a package (CycloneDX, by npm itself) from a project in which npm installed it alone.
 * @returns how many components it lists
 */
export async function writeSbom(name: string, project: string): Promise<number> {
  const { stdout } = await commandOrThrow('npm', ['sbom', '--sbom-format=cyclonedx', '--omit=dev', '--loglevel=error'], { cwd: project });
  const { components = [] } = JSON.parse(stdout) as { components?: unknown[] };
  mkdirSync(SBOM_FOLDER, { recursive: true });
  writeFileSync(join(SBOM_FOLDER, `${name}.cdx.json`), stdout);
  return components.length;
}
