/** The layers, bottom up: which packages the sources of a package may import, by name. Tests may also use the testkit where noted. */
const LAYERS = {
  types: [],
  renderers: ['types'],
  http: ['types'],
  telemetry: ['types', 'http'],
  clients: ['types', 'http', 'telemetry'],
  testkit: ['types', 'http'],
};
const USES_TESTKIT_IN_TESTS = ['telemetry', 'clients'];

const TESTS = '(^packages/[^/]+/test/|[.]test([.]|-)|[.]test-d[.]ts$)';

/** @param {string[]} names */
const sourcesOf = (names) => `^packages/(${names.join('|')})/`;

/** @param {string} name @param {string[]} allowed @param {boolean} inTests @returns {import('dependency-cruiser').IForbiddenRuleType} */
function layerRule(name, allowed, inTests) {
  const reachable = [name, ...allowed, ...(inTests && USES_TESTKIT_IN_TESTS.includes(name) ? ['testkit'] : [])];
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

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...Object.entries(LAYERS).flatMap(([name, allowed]) => [layerRule(name, allowed, false), layerRule(name, allowed, true)]),
    {
      name: 'no-deep-import',
      comment: 'Another package is imported by its name; its inside is its own business.',
      severity: 'error',
      from: { path: '^(packages|apps)/([^/]+)/|^(bench)/' },
      to: { path: '^packages/', pathNot: ['^packages/[^/]+/src/(index|[^/]+/index)[.]ts$', '^$1/$2/'] },
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
      name: 'protobuf-only-in-types-proto',
      comment: 'Only types/src/proto knows protobuf.',
      severity: 'error',
      from: { path: '^packages/', pathNot: ['^packages/types/src/proto/', TESTS] },
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
      // A peer dependency with a `peerDependenciesMeta` entry is also reported as missing from the manifest.
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['npm', 'npm-dev', 'npm-peer', 'npm-optional'] },
    },
    {
      name: 'no-development-dependency',
      comment: 'What is published must not need a development dependency.',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: TESTS },
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
