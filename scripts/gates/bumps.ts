/**
 * Gate: versions are independent. A patch to one package releases it and those that depend on it, and nobody else; a minor change of it is a
 * patch of them; the changeset's sentence ends up in the changelog of the package it names. A gate and no unit test because changesets needs git.
 */
import { planReleases } from '../release/plan.js';
import { inParallel } from './in-parallel.js';
import { verdict } from './verdict.js';

/** Who must be released again when a package is, because it is among their dependencies. */
const DEPENDENTS: Readonly<Record<string, readonly string[]>> = {
  types: ['http', 'telemetry', 'clients', 'testkit'],
  http: ['telemetry', 'clients', 'testkit'],
  telemetry: ['clients'],
  clients: [],
  testkit: [],
};
const SENTENCE = 'The server closes faster.';

const cases = Object.keys(DEPENDENTS).flatMap((name) => (['patch', 'minor'] as const).map((kind) => ({ name, kind })));
const problems = await inParallel(cases, async ({ name, kind }) => {
  const changesets = { 'one.md': `---\n'@tinkex/${name}': ${kind}\n---\n\n${SENTENCE}\n` };
  const releases = await planReleases({ changesets, startingVersion: '1.2.3' });
  const expected = [[name, kind === 'patch' ? '1.2.4' : '1.3.0'], ...(DEPENDENTS[name] ?? []).map((one) => [one, '1.2.4'])];
  const wanted = expected.map(([one, version]) => `@tinkex/${one}@${version}`).sort();
  const planned = releases.map(({ id, to }) => `${id}@${to}`).sort();
  const told = releases.filter(({ changelog }) => changelog.includes(SENTENCE)).map(({ id }) => id);
  return [
    ...(wanted.join() === planned.join() ? [] : [`a ${kind} of ${name} releases ${planned.join(', ')} instead of ${wanted.join(', ')}`]),
    ...(told.join() === `@tinkex/${name}` ? [] : [`the changeset of ${name} is in the changelogs of: ${told.join(', ') || 'nobody'}`]),
  ];
});
verdict('check:bumps', `${cases.length} changes planned`, problems.flat());
