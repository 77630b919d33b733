/** Gate: the packed packages work for users who install one of them, or all, in projects outside this workspace. */
import { join } from 'node:path';
import { publishedPackages, type WorkspacePackage } from '../packages.mjs';
import { Consumer } from '../tarballs/consumer.js';
import { inParallel } from './in-parallel.js';
import { packAll } from './pack.js';
import { temporaryFolder } from './temporary-folder.js';
import { verdict } from './verdict.js';

const packages = publishedPackages();
const tarballs = await packAll();
const directory = temporaryFolder('tarballs');
const sets = [...packages.map((one) => ({ name: one.name, wanted: [one] })), { name: 'everything', wanted: packages }];
const problems = await inParallel(sets, examine);
verdict('check:tarballs', `${tarballs.size} tarballs, ${sets.length} ways to install them`, problems.flat());

async function examine({ name, wanted }: { readonly name: string; readonly wanted: readonly WorkspacePackage[] }): Promise<string[]> {
  const consumer = new Consumer(join(directory, name), wanted, packages);
  await consumer.install(tarballs);
  const problems = [...consumer.surprises(), ...(await consumer.loadWithoutPeers())];
  consumer.addPeers();
  problems.push(...(await consumer.load()), ...(await consumer.compile()), ...(await consumer.help()));
  return problems.map((problem) => `${name}: ${problem}`);
}
