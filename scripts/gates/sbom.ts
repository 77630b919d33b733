/**
 * Writes the bill of materials of each package, as it is in the registry that npm uses here: the workflow runs it after a release and keeps `temp/sbom`.
 */
import { relative } from 'node:path';
import { publishedPackages, root } from '../packages.mjs';
import { SBOM_FOLDER, writeSboms } from '../release/sbom.js';
import { commandOrThrow } from './command.js';

const packages = publishedPackages();
const { stdout } = await commandOrThrow('npm', ['config', 'get', 'registry']);
const versions = new Map(packages.map(({ id, manifest }) => [id, manifest.version as string]));
const counts = await writeSboms(packages, versions, { url: stdout.trim(), npmrc: '' });
for (const [id, count] of counts) console.log(`${id} ${versions.get(id)}: ${count} components`);
console.log(`written to ${relative(root, SBOM_FOLDER)}`);
