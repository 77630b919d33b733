/**
 * Publishes every package whose version is not in the registry yet; `changeset version` must have been committed before.
 * With `--dry-run` nothing is published and no network is used: it shows the versions and changelogs the pending changesets lead to, and packs.
 */
import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { planReleases } from '../release/plan.js';
import { root, run } from '../run/workspace.mjs';
import { packAll } from './pack.js';

if (process.argv.includes('--dry-run')) {
  const releases = await planReleases();
  if (releases.length === 0) console.log('No pending changeset: `pnpm release` would publish the versions in the manifests.');
  for (const { id, from, to, changelog } of releases) console.log(`${id} ${from} -> ${to}\n${indent(newest(changelog))}\n`);
  for (const [{ id }, tarball] of await packAll()) console.log(`packed ${id}: ${relative(root, tarball)}, ${statSync(tarball).size} bytes`);
  console.log('release: dry run, nothing was published');
} else {
  await packAll();
  process.exitCode = await run('changeset', ['publish']);
}

/** The topmost version's part of a changelog. */
function newest(changelog: string): string {
  const [, section = ''] = changelog.split(/^## .*$/m);
  return section.trim();
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
