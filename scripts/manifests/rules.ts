import { isDeepStrictEqual } from 'node:util';

type Json = Readonly<Record<string, unknown>>;

const DEPENDENCY_FIELDS = ['dependencies', 'devDependencies'];

/** What is wrong with the manifest of a published package, in sentences. `root` is the workspace's own manifest, `siblings` the names of its packages. */
export function manifestProblems(manifest: Json, root: Json, siblings: ReadonlySet<string>): string[] {
  const published = (manifest.publishConfig ?? {}) as Json;
  const expectations: readonly (readonly [boolean, string])[] = [
    [manifest.type === 'module', '`type` must be "module"'],
    [manifest.sideEffects === false, '`sideEffects` must be false'],
    [manifest.license === root.license, '`license` must be that of the repository'],
    [isDeepStrictEqual(manifest.engines, root.engines), '`engines` must be those of the repository'],
    [manifest.bin === undefined, '`bin` belongs into `publishConfig`: before a build there is nothing to link'],
    [published.access === 'public', '`publishConfig` must ask for public access'],
    [
      published.provenance === undefined,
      '`publishConfig.provenance` would refuse every publication outside CI; the workflow `release` asks for it',
    ],
  ];
  const foreign = DEPENDENCY_FIELDS.flatMap((field) =>
    Object.entries((manifest[field] ?? {}) as Record<string, string>)
      .filter(([name, version]) => version !== (siblings.has(name) ? 'workspace:^' : 'catalog:'))
      .map(([name, version]) => `\`${field}\` has ${name} as ${version}: siblings are workspace:^, all others catalog:`),
  );
  return [...expectations.filter(([isMet]) => !isMet).map(([, sentence]) => sentence), ...foreign];
}
