/** Gate: the packed packages work for users who install only a layer of them, in projects that know nothing of this workspace. */
import { join } from 'node:path';
import { Consumer } from '../tarballs/consumer.js';
import { INSTALL_SETS, type InstallSet } from '../tarballs/install-sets.js';
import { inParallel } from './in-parallel.js';
import { packAll } from './pack.js';
import { temporaryFolder } from './temporary-folder.js';
import { verdict } from './verdict.js';

const tarballs = await packAll();
const directory = temporaryFolder('tarballs');
const problems = await inParallel(INSTALL_SETS, examine);
verdict('check:tarballs', `${tarballs.size} tarballs, ${INSTALL_SETS.length} ways to install them`, problems.flat());

async function examine(set: InstallSet): Promise<string[]> {
  const consumer = new Consumer(join(directory, set.name.replaceAll(' ', '-')), set, [...tarballs.keys()]);
  await consumer.install(tarballs);
  const surprises = consumer.surprises();
  consumer.addPeers();
  const problems = [...surprises, ...(await consumer.load()), ...(await consumer.compile()), ...(await consumer.help())];
  return problems.map((problem) => `${set.name}: ${problem}`);
}
