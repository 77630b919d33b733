import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../packages.mjs';

const folder = join(root, '.github', 'workflows');

describe.each(readdirSync(folder))('the workflow %s', (name) => {
  const text = readFileSync(join(folder, name), 'utf8');

  it('names every action by its commit, with the version in a comment', () => {
    const uses = text.split('\n').filter((line) => /\buses:/.test(line));
    expect(uses.length).toBeGreaterThan(0);
    for (const line of uses) expect(line).toMatch(/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('reads only, unless a job says otherwise, and tests nothing where it can publish', () => {
    expect(text).toMatch(/^permissions: \{ contents: read \}$/m);
    const jobs = text.slice(text.indexOf('\njobs:')).split(/^ {2}(?=\w+:$)/m);
    for (const job of jobs.filter((one) => /id-token: write|NPM_TOKEN/.test(one))) expect(job).not.toMatch(/\.ci\/run|npm test/);
  });
});
