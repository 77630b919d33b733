import { ServiceClient } from '@tinkex/clients';
import { type Datum, datum, ModelInput, protobuf } from '@tinkex/types';
import { Pool } from 'undici';

/** Something that trains. */
export interface Trainer {
  readonly name: string;
  /** A pair of forwardBackward and optimStep for each batch, none awaited before the next is called. */
  train(): Promise<void>;
  close(): Promise<void>;
}

/** One batch for each step, as in real training: what is sent is never still warm in a cache from the step before. */
export function makeBatches(steps: number, datums: number, tokens: number): Datum[][] {
  return Array.from({ length: steps }, (_, step) =>
    Array.from({ length: datums }, (_, row) => {
      const ids = Int32Array.from({ length: tokens }, (_, column) => (step * 7 + row * 31 + column) % 50_000);
      return datum({
        modelInput: ModelInput.fromInts(ids),
        lossFnInputs: { targetTokens: ids, weights: new Float32Array(tokens).fill(1) },
      });
    }),
  );
}

/**
 * The floor: the same exchanges with undici, every body encoded beforehand and the results only received.
 *
 * @param isCopying - Sends a copy of each body: a client has to make the bytes of each step somehow, and one copy is the least.
 *   Without it the same buffers go out again and again, which no training loop can do.
 */
export function rawUndici(baseUrl: string, batches: readonly Datum[][], isCopying: boolean): Trainer {
  const submitPool = new Pool(baseUrl, { connections: 256 });
  const pollPool = new Pool(baseUrl, { connections: 2048 });
  const bodies = batches.map((data, step) =>
    protobuf.forwardBackwardRequest.encode({ modelId: 'bench:train:0', seqId: 2 * step + 1, data, lossFn: 'cross_entropy' }),
  );
  const headers = { 'content-type': 'application/json', 'x-api-key': 'tml-bench', accept: 'application/json' };
  const adam = { learning_rate: 1e-4, beta1: 0.9, beta2: 0.95, eps: 1e-12, weight_decay: 0, grad_clip_norm: 0 };
  const submit = async (path: string, content: string | Uint8Array, type: string): Promise<string> => {
    const response = await submitPool.request({ method: 'POST', path, headers: { ...headers, 'content-type': type }, body: content });
    return ((await response.body.json()) as { request_id: string }).request_id;
  };
  /** Results are received and dropped, as a loop that only reads the loss does. */
  const poll = async (requestId: string, accept: string): Promise<number> => {
    const content = JSON.stringify({ request_id: requestId, allow_metadata_only: true });
    const response = await pollPool.request({
      method: 'POST',
      path: '/api/v1/retrieve_future',
      headers: { ...headers, accept },
      body: content,
    });
    return (await response.body.arrayBuffer()).byteLength;
  };
  return {
    name: isCopying ? 'raw undici, one copy of each body' : 'raw undici, bodies kept',
    async train() {
      const results: Promise<number>[] = [];
      for (const [step, body] of bodies.entries()) {
        results.push(
          poll(
            await submit('/api/v1/forward_backward', isCopying ? body.slice() : body, 'application/x-protobuf'),
            'application/x-protobuf',
          ),
        );
        const request = JSON.stringify({ adam_params: adam, model_id: 'bench:train:0', seq_id: step, type: 'optim_step' });
        results.push(poll(await submit('/api/v1/optim_step', request, 'application/json'), 'application/json'));
      }
      await Promise.all(results);
    },
    async close() {
      await Promise.all([submitPool.close(), pollPool.close()]);
    },
  };
}

/** The SDK as an application uses it: each batch is encoded, each result decoded. */
export async function tinkex(baseUrl: string, batches: readonly Datum[][]): Promise<Trainer> {
  const service = new ServiceClient({ baseUrl, apiKey: 'tml-bench', telemetry: false });
  const training = await service.createLoraTrainingClient({ baseModel: 'bench' });
  return {
    name: '@tinkex/clients',
    async train() {
      const futures: PromiseLike<unknown>[] = [];
      for (const data of batches) {
        futures.push(
          training.forwardBackward(data, 'cross_entropy').then(({ metrics }) => metrics['loss:sum']),
          training.optimStep({ learningRate: 1e-4 }),
        );
      }
      await Promise.all(futures);
    },
    close: () => service.close(),
  };
}
