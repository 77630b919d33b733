import type { Row } from './row.js';

const EXPECTED = 'loss number, 1 sequence';

/** An application in one function, which each bundler makes one file of. */
const APP = `
import { ModelInput, nextTokenDatum, ServiceClient } from '@tinkex/clients';
import { startServer } from '@tinkex/testkit';

async function main() {
  const server = await startServer();
  const service = new ServiceClient(server.clientOptions);
  const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 4 });
  const tokenizer = await training.getTokenizer();
  const data = [nextTokenDatum(ModelInput.fromText('abcabc', tokenizer).toInts())];
  const { metrics } = await training.forwardBackward(data, 'cross_entropy');
  const sampling = await training.saveWeightsAndGetSamplingClient();
  const { sequences } = await sampling.sample({ prompt: [1, 2], samplingParams: { maxTokens: 2, temperature: 0 } });
  console.log(\`loss \${typeof metrics['loss:sum']}, \${sequences.length} sequence\`);
  await service.close();
  await server.close();
}
main();
`;

const WEBPACK = `
export default { mode: 'development', devtool: false, target: 'node20', entry: './app.mjs', experiments: { outputModule: true },
  output: { path: import.meta.dirname + '/out', filename: 'app.mjs', module: true, chunkFormat: 'module' } };`;
const RUN_WEBPACK = `
import webpack from 'webpack';
import config from './webpack.config.mjs';
webpack(config, (error, stats) => {
  if (error || stats.hasErrors()) { console.error(error ?? stats.toString({ all: false, errors: true })); process.exitCode = 1; }
});`;
const RUN_ROLLUP = `
import commonjs from '@rollup/plugin-commonjs';
import json from '@rollup/plugin-json';
import nodeResolve from '@rollup/plugin-node-resolve';
import { rollup } from 'rollup';
const bundle = await rollup({ input: 'app.mjs', plugins: [nodeResolve({ preferBuiltins: true }), commonjs(), json()], onLog() {} });
await bundle.write({ dir: 'out', format: 'esm', entryFileNames: 'app.mjs' });`;
const RUN_VITE = `
import { build } from 'vite';
await build({ logLevel: 'error', ssr: { noExternal: true }, build: { ssr: 'app.mjs', outDir: 'out', rollupOptions: { output: { entryFileNames: 'app.mjs' } } } });`;

/** Only what the web has: no testkit, no Node. */
const WORKER = `
import { nextTokenDatum, ServiceClient } from '@tinkex/clients';
export async function main({ baseUrl, apiKey }) {
  const service = new ServiceClient({ baseUrl, apiKey });
  const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 4 });
  const { metrics } = await training.forwardBackward([nextTokenDatum([1, 2, 3])], 'cross_entropy');
  const sampling = await training.saveWeightsAndGetSamplingClient();
  const { sequences } = await sampling.sample({ prompt: [1, 2], samplingParams: { maxTokens: 2, temperature: 0 } });
  await service.close();
  return \`loss \${typeof metrics['loss:sum']}, \${sequences.length} sequence\`;
}`;
/** Bundles a worker, and refuses imports of what no worker has. */
export const BUILD_WORKER = `
import { build } from 'esbuild';
const conditions = ['workerd', 'worker', 'browser'];
const { metafile } = await build({ entryPoints: ['worker.mjs'], bundle: true, format: 'iife', globalName: 'worker', platform: 'neutral', mainFields: ['module', 'main'], conditions, metafile: true, outfile: 'out/worker.js', logLevel: 'error' });
const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
const foreign = imports.filter((path) => path !== '@huggingface/tokenizers' && path !== '@bokuweb/zstd-wasm');
if (foreign.length > 0) throw new Error('the bundle imports ' + foreign.join(', '));
if (Object.keys(metafile.inputs).some((file) => file.includes('/undici/'))) throw new Error('the bundle contains undici');`;
/** What Node has and a worker lacks. */
export const LACKING_IN_WORKERS = ['process', 'Buffer', 'global', 'setImmediate', 'clearImmediate'];
/** The bundle runs as a function for which everything that a worker lacks is undefined. */
const RUN_WORKER = `
import { readFileSync } from 'node:fs';
import { startServer } from '@tinkex/testkit';
const lacking = ${JSON.stringify(LACKING_IN_WORKERS)};
const bare = Object.create(null);
for (const name of Object.getOwnPropertyNames(globalThis)) if (!lacking.includes(name)) bare[name] = globalThis[name];
const { main } = new Function('globalThis', ...lacking, readFileSync('out/worker.js', 'utf8') + '; return worker;')(bare);
const server = await startServer();
console.log(await main({ baseUrl: server.url, apiKey: server.apiKey }));
await server.close();`;

/** Each bundler builds the application without the optional peers, and what it built runs from an empty folder. */
export function bundlerRows(): Row[] {
  const esbuild = (name: string, format: string, file: string): Row => ({
    name,
    files: { 'app.mjs': APP },
    commands: [
      [
        'node',
        '../../node_modules/esbuild/bin/esbuild',
        'app.mjs',
        '--bundle',
        '--platform=node',
        `--format=${format}`,
        `--outfile=out/${file}`,
      ],
      ['node', `out/${file}`],
    ],
    expected: EXPECTED,
  });
  const scripted = (name: string, files: Row['files']): Row => ({
    name,
    files: { 'app.mjs': APP, ...files },
    commands: [
      ['node', 'build.mjs'],
      ['node', 'out/app.mjs'],
    ],
    expected: EXPECTED,
  });
  return [
    esbuild('esbuild, ESM', 'esm', 'app.mjs'),
    esbuild('esbuild, CommonJS', 'cjs', 'app.cjs'),
    scripted('webpack', { 'webpack.config.mjs': WEBPACK, 'build.mjs': RUN_WEBPACK }),
    scripted('Rollup', { 'build.mjs': RUN_ROLLUP }),
    scripted('Vite SSR', { 'build.mjs': RUN_VITE }),
    {
      name: 'edge worker',
      files: { 'worker.mjs': WORKER, 'build.mjs': BUILD_WORKER, 'run.mjs': RUN_WORKER },
      commands: [
        ['node', 'build.mjs'],
        ['node', 'run.mjs'],
      ],
      expected: EXPECTED,
    },
  ];
}
