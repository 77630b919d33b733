import { workspacePackages } from '../run/workspace.mjs';

/** A package that goes to the registry. */
export interface PublishedPackage {
  /** Its folder's name: `types`. */
  readonly name: string;
  /** Its name in the registry: `@tinkex/types`. */
  readonly id: string;
  readonly dir: string;
  readonly manifest: Readonly<Record<string, unknown>>;
  /** The commands it installs. They are in `publishConfig`, because before a build there is nothing to link them to. */
  readonly commands: readonly string[];
  /** The entry points, package.json left out: the sub-path (`.`, `./otel`) and the built declaration file, relative to `dir`. */
  readonly entries: readonly { readonly subpath: string; readonly types: string }[];
}

/** All of them, in the order of their names. */
export function publishedPackages(): PublishedPackage[] {
  return workspacePackages()
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ name, dir, manifest }) => ({
      name,
      id: manifest.name,
      dir,
      manifest,
      commands: Object.keys(manifest.publishConfig?.bin ?? {}),
      entries: entriesOf(manifest.exports),
    }));
}

function entriesOf(exports: Record<string, string | { types: string }>): PublishedPackage['entries'] {
  return Object.entries(exports).flatMap(([subpath, target]) => (typeof target === 'string' ? [] : [{ subpath, types: target.types }]));
}
