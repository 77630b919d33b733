/**
 * Gate: the pages of docs/contributing are true. Each has a worked example, which is applied to a copy of the repository; the files it touches must be
 * those that the page names, and there the types, the tests of the change, the lint and the layers must pass. Arguments name recipes.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { command } from '../gates/command.js';
import { inParallel } from '../gates/in-parallel.js';
import { verdict } from '../gates/verdict.js';
import { workCopy } from '../gates/work-copy.js';
import { root, TSC, workspacePackages } from '../packages.mjs';
import { addEndpoint } from './examples/add-endpoint.js';
import { addEvent } from './examples/add-event.js';
import { addFault } from './examples/add-fault.js';
import { addLoss } from './examples/add-loss.js';
import { addPackage } from './examples/add-package.js';
import { addServerQuirk } from './examples/add-server-quirk.js';
import { applyEdits, disagreements, filesNamedBy, type Recipe } from './recipe.js';

const RECIPES: readonly Recipe[] = [addEndpoint, addEvent, addFault, addServerQuirk, addLoss, addPackage];
const PAGES = 'docs/contributing';

const wanted = process.argv.slice(2);
const chosen = RECIPES.filter(({ page }) => wanted.length === 0 || wanted.includes(page));
const without = readdirSync(join(root, PAGES))
  .map((file) => file.replace(/\.md$/, ''))
  .filter((page) => !RECIPES.some((recipe) => recipe.page === page));
const problems = await inParallel(chosen, async (recipe) => {
  const found = await check(recipe).catch((error: unknown) => [error instanceof Error ? error.message : String(error)]);
  console.log(`${found.length === 0 ? 'true' : 'FALSE'}: ${PAGES}/${recipe.page}.md`);
  return found.map((problem) => `${recipe.page}: ${problem}`);
});
verdict('recipes', `${chosen.length} worked examples`, [...without.map((page) => `${page}: has no worked example`), ...problems.flat()]);

async function check({ page, edits, typecheck, tests }: Recipe): Promise<string[]> {
  const touched = [...new Set(edits.map(({ file }) => file))];
  const differences = disagreements(filesNamedBy(readFileSync(join(root, PAGES, `${page}.md`), 'utf8')), touched);
  const copy = await workCopy();
  for (const file of touched) {
    const path = join(copy, file);
    const content = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(
      path,
      applyEdits(
        file,
        content,
        edits.filter((edit) => edit.file === file),
      ),
    );
    if (content === undefined && file.endsWith('/package.json')) linkDependencies(dirname(path));
  }
  const linted = touched.filter((file) => /\.(ts|json)$/.test(file));
  const runs: (readonly [string, readonly string[], string])[] = [
    ['biome', ['check', '--error-on-warnings', '--vcs-enabled=false', ...linted], copy],
    // What `npm run format` derives from the manifests is not part of a recipe.
    ['tsx', ['scripts/manifests/write.ts'], copy],
    ['tsx', ['scripts/gates/layers.ts'], copy],
    ...typecheck.map((name) => [TSC, ['-p', 'tsconfig.check.json', '--pretty', 'false'], join(copy, 'packages', name)] as const),
    ...Object.entries(tests).map(([name, files]) => ['vitest', ['run', ...files], join(copy, 'packages', name)] as const),
  ];
  for (const [program, args, cwd] of runs) {
    const { code, output } = await command(program, args, { cwd, env: { TINKEX_UPDATE_DOCS: undefined } });
    if (code !== 0) differences.push(`${program} ${args.join(' ')} fails in the copy:\n${output.trim().slice(-3_000)}`);
  }
  return differences;
}

/** What pnpm would do for a new package: links to its siblings in the copy, and to third parties that another package has. */
function linkDependencies(folder: string): void {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const packages = workspacePackages();
  for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
    const sibling = packages.find(({ id }) => id === name);
    const other = packages.map(({ dir }) => join(dir, 'node_modules', name)).find((path) => existsSync(path));
    const target = sibling === undefined ? realpathSync(other ?? name) : join(folder, '..', sibling.name);
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
    symlinkSync(target, join(folder, 'node_modules', name), 'dir');
  }
}
