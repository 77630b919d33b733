import { create, type Edit } from '../recipe.js';

/** The changeset of an example. */
export function changeset(sentence: string, ...packages: readonly string[]): Edit {
  const bumps = packages.map((name) => `'@tinkex/${name}': minor\n`).join('');
  return create('.changeset/worked-example.md', `---\n${bumps}---\n\n${sentence}\n`);
}
