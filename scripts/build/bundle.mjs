// The last part of a package's build, after `tsc -b`: one file of JavaScript per entry point (and per command), with what several of them share
// in files beside them. Loading a package is then a few files, not a hundred. docs/decisions/0006-one-file-per-entry-point.md
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { rolldown } from 'rolldown';

const { exports, publishConfig } = JSON.parse(readFileSync('package.json', 'utf8'));
const entryPoints = Object.values(exports).filter((target) => target.types !== undefined);
/** From where the bundle is wanted to its source: `dist/x.js`, or `dist/node/x.js` where browsers get the modules one by one, is `src/x.ts`. */
const inputs = [...entryPoints.map((target) => target.node ?? target.default), ...Object.values(publishConfig.bin ?? {})].map((file) => {
  const name = file.replace('./dist/', '').replace('.js', '');
  return [name, resolve('src', `${name.replace(/^node\//, '')}.ts`)];
});

// Sixty small files, of which a few are used: loading them one by one took most of the time of `import '@tinkex/clients'`.
const INLINED = '@bufbuild/protobuf';
const NOTICE = `/*! Contains parts of ${INLINED}, Copyright Buf Technologies, Inc., under the Apache License 2.0. */`;

const bundle = await rolldown({
  input: Object.fromEntries(inputs),
  // Other dependencies, siblings and Node's own modules stay imports. What the bundler itself adds (for `using`) does not.
  external: (id) => !/^[.\0]|^@oxc-project\//.test(id) && !id.startsWith(INLINED) && !isAbsolute(id),
  // The oldest Node that we promise does not know `using`.
  transform: { target: 'es2022' },
  platform: 'neutral',
  treeshake: { moduleSideEffects: false },
  onLog(level, { message }) {
    throw new Error(`${level}: ${message}`);
  },
});
// Names of shared files change with the sources.
rmSync('dist/shared', { recursive: true, force: true });
await bundle.write({
  dir: 'dist',
  sourcemap: true,
  // The tarball has the sources themselves, where the maps lead to.
  sourcemapExcludeSources: true,
  chunkFileNames: 'shared/[name].js',
  banner: ({ moduleIds }) => (moduleIds.some((id) => id.includes(INLINED)) ? NOTICE : ''),
  comments: { annotation: true, legal: true, jsdoc: false },
});
await bundle.close();

// An entry point for `require` where `require` cannot load ES modules (Jest): all of it in one file, which needs nothing but Node. Its declarations
// are written by hand beside the source.
const CJS_TARGETS = entryPoints.flatMap((target) => target.require ?? []);
for (const target of CJS_TARGETS) {
  const source = target.default.replace('./dist/', 'src/').replace('.cjs', '.ts');
  const inCommonJs = await rolldown({
    input: resolve(source),
    external: /^node:/,
    resolve: { conditionNames: ['@tinkex/source', 'node', 'default'] },
    transform: { target: 'es2022' },
    platform: 'node',
    treeshake: { moduleSideEffects: false },
    onLog(level, { message }) {
      throw new Error(`${level}: ${message}`);
    },
  });
  await inCommonJs.write({ file: target.default, format: 'cjs', sourcemap: true, sourcemapExcludeSources: true });
  await inCommonJs.close();
  copyFileSync(target.types.replace('./dist/', 'src/'), target.types);
}
