import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a browser asks for, in the sense of `exports`. */
const CONDITIONS = new Set(['browser', 'module', 'import', 'default']);

type Target = string | null | readonly Target[] | { readonly [condition: string]: Target };

/**
 * The import map of an installed project: from each entry point that a package of `node_modules` exports to its file below `/node_modules/`, as a browser
 * would resolve it. Patterns (`./*`) are left out; an import that needs one fails in the browser.
 */
export function importMap(project: string): { readonly imports: Readonly<Record<string, string>> } {
  const imports: Record<string, string> = {};
  for (const name of installed(join(project, 'node_modules'))) {
    const manifest = JSON.parse(readFileSync(join(project, 'node_modules', name, 'package.json'), 'utf8'));
    for (const [subpath, target] of Object.entries<Target>(manifest.exports ?? {})) {
      const file = subpath.startsWith('.') && !subpath.includes('*') ? resolveTarget(target) : undefined;
      if (file !== undefined && /[.]m?js$/.test(file)) imports[`${name}${subpath.slice(1)}`] = `/node_modules/${name}${file.slice(1)}`;
    }
  }
  return { imports };
}

/** The first target, in the order of the manifest, whose conditions a browser fulfils. */
export function resolveTarget(target: Target): string | undefined {
  if (typeof target === 'string') return target;
  if (target === null || Array.isArray(target)) return undefined;
  for (const [condition, own] of Object.entries(target)) {
    const found = CONDITIONS.has(condition) ? resolveTarget(own) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function installed(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => !name.startsWith('.'));
  return names.flatMap((name) => (name.startsWith('@') ? readdirSync(join(folder, name)).map((inner) => `${name}/${inner}`) : [name]));
}
