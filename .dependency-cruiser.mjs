import { publishedPackages } from './scripts/packages.mjs';

/** The layers: the sources of a package import what its manifest depends on; its tests also what it depends on for development. */
const LAYERS = publishedPackages();

/** The only files of a package that others may import: the sources of its entry points. */
const ENTRY_POINTS = LAYERS.flatMap(({ folder, entries }) =>
  entries.map(({ source }) => `^${folder}/${source.slice(2).replaceAll('.', '[.]')}$`),
);

/**
 * The folders of a package in the order of its data. The sources of a folder import only folders that stand before it, types included; files
 * beside the folders (other than the entry points) belong to none and may be imported by all.
 */
const FOLDERS = {
  types: [
    ...['redaction', 'errors', 'models', 'events', 'tensor', 'json', 'tokenizer', 'model-input', 'paths', 'sampling', 'training'],
    ...['custom-loss', 'proto', 'wire', 'endpoints'],
  ],
  inspector: ['api', 'metrics', 'record', 'runs', 'export', 'serve', 'page'],
  gateway: ['capture', 'models', 'generation', 'openai', 'anthropic', 'server', 'verify'],
  http: [
    'runtime',
    'abort',
    'clock',
    'url',
    'diagnostics',
    'retry',
    'transport',
    'compression',
    'auth',
    'call',
    'pipeline',
    'client',
    'server',
    'testing',
    'fetch',
  ],
  clients: [
    ...[
      'runtime',
      'limits',
      'calls',
      'futures',
      'downloads',
      'tokenizers',
      'connection',
      'checkpoints',
      'rest',
      'sampling',
      'recovery',
      'training',
    ],
    ...['autodiff', 'service'],
  ],
};

const TESTS = '(^packages/[^/]+/test/|[.]test([.]|-)|[.]test-d[.]ts$)';

/** @param {string[]} names */
const sourcesOf = (names) => `^packages/(${names.join('|')})/`;

/** @param {(typeof LAYERS)[number]} layer @param {boolean} inTests @returns {import('dependency-cruiser').IForbiddenRuleType} */
function layerRule({ name, dependencies, testDependencies }, inTests) {
  const reachable = [name, ...dependencies, ...(inTests ? testDependencies : [])];
  return {
    name: `layer-${name}${inTests ? '-tests' : ''}`,
    comment: `${inTests ? 'Tests of ' : ''}@tinkex/${name} may import: ${reachable.slice(1).join(', ') || 'no other package'}.`,
    severity: 'error',
    from: inTests
      ? { path: `^packages/${name}/(?=.*(/test/|[.]test[.]|[.]test-d[.]))` }
      : { path: `^packages/${name}/src/`, pathNot: TESTS },
    to: { path: '^(packages|apps|bench)/', pathNot: sourcesOf(reachable) },
  };
}

/** @param {string} name @param {string[]} folders @returns {import('dependency-cruiser').IForbiddenRuleType[]} */
function folderRules(name, folders) {
  const sources = `^packages/${name}/src/`;
  const inOrder = folders.slice(0, -1).map((folder, index) => ({
    name: `folder-order-${name}`,
    comment: `The folder ${folder} of @tinkex/${name} may import only: ${folders.slice(0, index).join(', ') || 'no other folder'}.`,
    severity: /** @type {const} */ ('error'),
    from: { path: `${sources}${folder}/`, pathNot: TESTS },
    to: { path: `${sources}(${folders.slice(index + 1).join('|')})/` },
  }));
  return [
    ...inOrder,
    {
      name: `folder-listed-${name}`,
      comment: `Each folder of @tinkex/${name} is listed in FOLDERS.`,
      severity: 'error',
      from: { path: `${sources}[^/]+/`, pathNot: [`${sources}(${folders.join('|')})/`, TESTS] },
      to: {},
    },
    {
      name: `folder-entry-${name}`,
      comment: 'A folder imports the files it needs, not an entry point that imports them all.',
      severity: 'error',
      from: { path: `${sources}[^/]+/`, pathNot: TESTS },
      to: { path: `${sources}(index|custom-loss|wire)[.]ts$` },
    },
  ];
}

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...LAYERS.flatMap((layer) => [layerRule(layer, false), layerRule(layer, true)]),
    ...Object.entries(FOLDERS).flatMap(([name, folders]) => folderRules(name, folders)),
    {
      name: 'no-deep-import',
      comment: 'Another package is imported by its name; its other files are private.',
      severity: 'error',
      from: { path: '^(packages|apps)/([^/]+)/|^(bench)/' },
      to: { path: '^packages/', pathNot: [...ENTRY_POINTS, '^$1/$2/'] },
    },
    {
      name: 'no-relative-crossing',
      comment: 'A relative path never leaves its package.',
      severity: 'error',
      from: { path: '^packages/([^/]+)/' },
      to: { path: '^packages/', pathNot: '^packages/$1/', dependencyTypes: ['local'] },
    },
    {
      name: 'no-circular',
      comment:
        'Modules that need each other to load are one idea, or one idea is missing. A type that points back is fine: it does not exist at run time.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'undici-only-in-transport',
      comment: 'The transport is the seam; nothing else knows which HTTP library is behind it.',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: ['^packages/http/src/transport/', TESTS] },
      to: { path: '(^|/)node_modules/undici/|^undici$' },
    },
    {
      name: 'protobuf-only-in-proto',
      comment: 'Only the proto folders of types (the client) and of the testkit (the server) know protobuf.',
      severity: 'error',
      from: { path: '^packages/', pathNot: ['^packages/(types|testkit)/src/proto/', TESTS] },
      to: { path: '(^|/)node_modules/@bufbuild/|^@bufbuild/' },
    },
    {
      name: 'types-and-renderers-are-pure',
      comment: '@tinkex/types and @tinkex/renderers run in any runtime: no Node built-in.',
      severity: 'error',
      from: { path: '^packages/(types|renderers)/src/', pathNot: TESTS },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'no-tests-in-sources',
      comment: 'What is published never imports a test.',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: TESTS },
      to: { path: TESTS },
    },
    {
      name: 'no-undeclared-dependency',
      comment: 'Each import is listed in the package.json of the package that makes it.',
      severity: 'error',
      from: { path: '^(packages|apps|bench)/' },
      // A peer dependency with a `peerDependenciesMeta` entry is also reported as missing from the manifest; a name of `imports` is in the manifest.
      to: {
        dependencyTypes: ['npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['npm', 'npm-dev', 'npm-peer', 'npm-optional', 'aliased-subpath-import'],
      },
    },
    {
      name: 'no-development-dependency',
      comment: 'What is published must not need a development dependency. A page is published as a bundle that has them inside.',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: ['^packages/inspector/src/page/', TESTS] },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm', 'npm-peer', 'npm-optional', 'type-only'] },
    },
    {
      name: 'no-unresolvable',
      comment: 'An import that resolves to nothing.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^((packages|apps)/[^/]+|bench)/(dist|temp|out)/' },
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['@tinkex/source', 'import', 'node', 'types', 'default'] },
  },
};
