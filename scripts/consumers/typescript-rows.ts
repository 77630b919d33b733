import type { Row } from './row.js';

const VERSIONS = ['5.4', '5.9', '6.0', '7.0'];
const RESOLUTIONS = [
  { moduleResolution: 'nodenext', module: 'nodenext' },
  { moduleResolution: 'node16', module: 'node16' },
  { moduleResolution: 'bundler', module: 'esnext' },
];

/** What people write, with every way to say "not set". */
const PROGRAM = `
import { ModelInput, nextTokenDatum, ServiceClient, type SamplingParams } from '@tinkex/clients';
import { FetchTransport } from '@tinkex/http/fetch';
import { startServer } from '@tinkex/testkit';
import { attachMetrics } from '@tinkex/telemetry';

export async function main(signal?: AbortSignal, temperature?: number): Promise<string[]> {
  const server = await startServer();
  const metrics = attachMetrics();
  const service = new ServiceClient({ apiKey: process.env['KEY'], baseUrl: process.env['URL'], transport: undefined });
  const other = new ServiceClient({ ...server.clientOptions, transport: new FetchTransport(), headers: undefined });
  const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 8, seed: undefined, signal });
  const tokenizer = await training.getTokenizer();
  const data = [nextTokenDatum(ModelInput.fromText('abc', tokenizer).toInts())];
  const { metrics: found } = await training.forwardBackward(data, 'cross_entropy', { signal, timeoutMs: undefined });
  const loss: number | undefined = found['loss:sum'];
  await training.optimStep({ learningRate: 1e-4, beta1: undefined }, { signal });
  const samplingParams: SamplingParams = { maxTokens: 4, temperature, seed: undefined };
  const sampling = await training.saveWeightsAndGetSamplingClient();
  const { sequences } = await sampling.sample({ prompt: ModelInput.fromInts([1]), samplingParams, numSamples: undefined }, { signal });
  await Promise.all([service.close(), other.close(), server.close()]);
  metrics.detach();
  return [String(loss), ...sequences.map(({ tokens }) => tokenizer.decode(tokens, { skipSpecialTokens: true }))];
}
`;

/** The one entry point that a CommonJS file can load without a flag. */
const COMMONJS_TEST = `
import { type RemoteServer, useTinkexServer } from '@tinkex/testkit/jest';

const server: RemoteServer = useTinkexServer({ engine: 'canned' });
export const done: Promise<void> = server.on('asample').once().reply(429, { retryAfterMs: 10 });
`;

/** Compiles one program with each version, each resolution, and `exactOptionalPropertyTypes` on and off; declarations are checked too. */
export function typescriptRows(): Row[] {
  return VERSIONS.flatMap((version) =>
    RESOLUTIONS.flatMap((resolution) =>
      [true, false].map((exactOptionalPropertyTypes) => typescriptRow(version, resolution, exactOptionalPropertyTypes)),
    ),
  );
}

/** Every version, every resolution and both values of the flag occur at least once. */
export function sampledTypescriptRows(): Row[] {
  const rows = typescriptRows();
  return [0, 9, 16, 19].map((index) => rows[index] as Row);
}

function typescriptRow(version: string, resolution: (typeof RESOLUTIONS)[number], exactOptionalPropertyTypes: boolean): Row {
  const compilerOptions = {
    ...{ target: 'es2022', lib: ['es2022', 'esnext.disposable'], ...resolution, strict: true, noEmit: true },
    ...{ exactOptionalPropertyTypes, skipLibCheck: false, types: ['node'], listFiles: true },
  };
  const name = `TypeScript ${version}, ${resolution.moduleResolution}, exactOptionalPropertyTypes ${exactOptionalPropertyTypes ? 'on' : 'off'}`;
  return {
    name,
    files: {
      'index.ts': PROGRAM,
      'jest.test.cts': COMMONJS_TEST,
      'tsconfig.json': JSON.stringify({ compilerOptions, files: ['index.ts', 'jest.test.cts'] }),
    },
    commands: [['node', `../../node_modules/typescript-${version}/bin/tsc`, '-p', '.', '--pretty', 'false']],
    expected: '@tinkex/clients/dist/index.d.ts',
    // The declarations of third parties are not ours to correct.
    isOurs: (line) => /error TS/.test(line) && /^(?:index\.ts|jest\.test\.cts|.*node_modules\/@tinkex\/|error )/.test(line),
  };
}
