/** Pipelined training steps: calls forwardBackward and optimStep of all steps without awaiting any in between. */
import { ServiceClient } from '@tinkex/clients';
import { type Datum, datum, ModelInput } from '@tinkex/types';
import { chunkData, protobuf } from '@tinkex/types/wire';
import { Pool } from 'undici';
import { program } from '../measure/program.js';
import { stopwatch } from '../measure/stopwatch.js';

interface Task {
  readonly contender: 'tinkex' | 'tinkex-no-reuse' | 'undici' | 'undici-kept';
  readonly baseUrl: string;
  readonly steps: number;
  readonly warmUpSteps: number;
  readonly datums: number;
  readonly tokens: number;
}

/** The reference's limits for one request. */
const CHUNK_LIMITS = { maxChunkLength: 1_024, maxChunkBytes: 5_000_000 };
/** Distinct batches, used in turns: the bytes sent are rarely still in a cache, and memory does not grow with the steps. */
const BATCHES = 4;

function makeBatch(step: number, datums: number, tokens: number): Datum[] {
  return Array.from({ length: datums }, (_, row) => {
    const ids = Int32Array.from({ length: tokens }, (_entry, column) => (step * 7 + row * 31 + column) % 50_000);
    return datum({ modelInput: ModelInput.fromInts(ids), lossFnInputs: { targetTokens: ids, weights: new Float32Array(tokens).fill(1) } });
  });
}

type Train = (steps: number) => Promise<unknown>;

/**
 * The SDK as an application uses it: encodes each batch and decodes each result.
 *
 * @param reusesBodies - Whether the client reuses the memory of request bodies, as it does by default.
 */
async function tinkex(baseUrl: string, batches: readonly Datum[][], reusesBodies: boolean): Promise<Train> {
  const limits = reusesBodies ? {} : { maxReusedBodyBytes: 0 };
  const service = new ServiceClient({ baseUrl, apiKey: 'tml-bench', telemetry: false, limits });
  const training = await service.createLoraTrainingClient({ baseModel: 'bench' });
  return (steps) =>
    Promise.all(
      Array.from({ length: steps }, (_, step) => [
        training.forwardBackward(batches[step % BATCHES] ?? [], 'cross_entropy').then(({ metrics }) => metrics['loss:sum']),
        training.optimStep({ learningRate: 1e-4 }),
      ]).flat(),
    );
}

/**
 * The lower bound: the same exchanges with undici, with bodies encoded beforehand and results dropped.
 *
 * @param isCopying - Sends a copy of each body: a client has to produce the bytes of each step somehow, and one copy is the minimum.
 */
function rawUndici(baseUrl: string, batches: readonly Datum[][], isCopying: boolean): Train {
  const submitPool = new Pool(baseUrl, { connections: 256 });
  const pollPool = new Pool(baseUrl, { connections: 2_048 });
  const bodies = batches.map((batch, step) =>
    chunkData(batch, CHUNK_LIMITS).map(({ data }) =>
      protobuf.forwardBackwardRequest.encode({ modelId: 'bench:train:0', seqId: step + 1, data: [...data], lossFn: 'cross_entropy' }),
    ),
  );
  const headers = { 'x-api-key': 'tml-bench' };
  const optimStep = JSON.stringify({ adam_params: { learning_rate: 1e-4 }, model_id: 'bench:train:0', seq_id: 1, type: 'optim_step' });
  const submit = async (path: string, type: string, body: string | Uint8Array): Promise<string> => {
    const response = await submitPool.request({ method: 'POST', path, headers: { ...headers, 'content-type': type }, body });
    return ((await response.body.json()) as { request_id: string }).request_id;
  };
  const poll = async (requestId: string): Promise<number> => {
    const response = await pollPool.request({
      method: 'POST',
      path: '/api/v1/retrieve_future',
      headers: { 'content-type': 'application/json', accept: 'application/x-protobuf', ...headers },
      body: JSON.stringify({ request_id: requestId, allow_metadata_only: true }),
    });
    return (await response.body.arrayBuffer()).byteLength;
  };
  return async (steps) => {
    const results: Promise<number>[] = [];
    for (let step = 0; step < steps; step += 1) {
      for (const body of bodies[step % BATCHES] ?? []) {
        results.push(poll(await submit('/api/v1/forward_backward', 'application/x-protobuf', isCopying ? body.slice() : body)));
      }
      results.push(poll(await submit('/api/v1/optim_step', 'application/json', optimStep)));
    }
    await Promise.all(results);
  };
}

await program(async ({ contender, baseUrl, steps, warmUpSteps, datums, tokens }: Task) => {
  const batches = Array.from({ length: BATCHES }, (_, step) => makeBatch(step, datums, tokens));
  const train = contender.startsWith('tinkex')
    ? await tinkex(baseUrl, batches, contender === 'tinkex')
    : rawUndici(baseUrl, batches, contender === 'undici');
  // Never more in flight than in the measured part.
  for (let done = 0; done < warmUpSteps; done += steps) await train(Math.min(steps, warmUpSteps - done));
  // No heap collection here: see costOfCalls.
  const stop = stopwatch();
  await train(steps);
  const { cpuMs, wallMs } = stop();
  return { cpuMsPerStep: cpuMs / steps, wallMsPerStep: wallMs / steps };
});
