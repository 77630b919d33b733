/**
 * Publishes every package whose version is not in the registry yet; `changeset version` must have been committed before.
 * With `--dry-run` nothing is published and no network is used: it shows the versions and changelogs the pending changesets lead to, and packs.
 */
import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { dependentsOf, publishedPackages, root } from '../packages.mjs';
import { planReleases } from '../release/plan.js';
import { run } from '../run/spawn.mjs';
import { inParallel } from './in-parallel.js';
import { packAll } from './pack.js';
import { verdict } from './verdict.js';

if (process.argv.includes('--dry-run')) {
  const releases = await planReleases();
  if (releases.length === 0) console.log('No pending changeset: `pnpm release` would publish the versions in the manifests.');
  for (const { id, from, to, changelog } of releases) console.log(`${id} ${from} -> ${to}\n${indent(newest(changelog))}\n`);
  for (const [id, tarball] of await packAll()) console.log(`packed ${id}: ${relative(root, tarball)}, ${statSync(tarball).size} bytes`);
  verdict('release:dry', 'nothing was published', await bumpProblems());
} else {
  await packAll();
  process.exitCode = await run('changeset', ['publish']);
}

/** Versions are independent: a patch of one package releases it and what depends on it, and nothing else. */
async function bumpProblems(): Promise<string[]> {
  const packages = publishedPackages();
  const problems = await inParallel(packages, async (one) => {
    const changesets = { 'one.md': `---\n'${one.id}': patch\n---\n\nFaster.\n` };
    const planned = (await planReleases({ changesets, startingVersion: '1.2.3' })).map(({ id, to }) => `${id}@${to}`).sort();
    const wanted = [one, ...dependentsOf(one, packages)].map(({ id }) => `${id}@1.2.4`).sort();
    return planned.join() === wanted.join() ? [] : [`a patch of ${one.id} releases ${planned.join(', ')} instead of ${wanted.join(', ')}`];
  });
  return problems.flat();
}

/** The topmost version's part of a changelog. */
function newest(changelog: string): string {
  const [, section = ''] = changelog.split(/^## .*$/m);
  return section.trim();
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
