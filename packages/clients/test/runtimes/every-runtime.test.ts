/**
 * What depends on the runtime: the network, timers, aborts, bodies, files. `test:runtimes` runs this file on the packed packages in Node, Bun and Deno, where
 * vitest and Node's modules are not at hand: it uses the public API and nothing else.
 */
import { ModelInput, nextTokenDatum, ServiceClient, type ServiceClientOptions } from '@tinkex/clients';
import { FetchTransport } from '@tinkex/http/fetch';
import { startServer } from '@tinkex/testkit';
import { describe, expect, it } from 'vitest';

type Server = Awaited<ReturnType<typeof startServer>>;

const MODEL = { baseModel: 'tinkex/tiny', rank: 4 } as const;
const prompt = [5, 6, 7];

async function withClient(
  options: ServiceClientOptions,
  work: (service: ServiceClient, server: Server) => Promise<void>,
  engine: 'learn' | 'canned' = 'canned',
): Promise<void> {
  const server = await startServer({ engine });
  const service = new ServiceClient({ ...server.clientOptions, ...options });
  try {
    await work(service, server);
    await service.close();
    server.verify();
  } finally {
    await service.close();
    await server.close();
  }
}

/** The error of work that must fail. */
const failureOf = async (work: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail.');
};

describe.each([
  ['the default transport', () => ({})],
  ['fetch', () => ({ transport: new FetchTransport() })],
])('a client on %s', (_, optionsOf) => {
  it('trains until the loss falls, saves, and samples what it learned', async () => {
    await withClient(
      optionsOf(),
      async (service) => {
        const training = await service.createLoraTrainingClient(MODEL);
        const tokenizer = await training.getTokenizer();
        const data = [nextTokenDatum(ModelInput.fromText('abcabcabc', tokenizer).toInts())];
        const losses: number[] = [];
        for (let step = 0; step < 8; step += 1) {
          const forward = training.forwardBackward(data, 'cross_entropy');
          const update = training.optimStep({ learningRate: 3e-2 });
          losses.push((await forward).metrics['loss:sum'] ?? Number.NaN);
          await update;
        }
        expect(losses.at(-1)).toBeLessThan((losses[0] as number) / 2);
        const sampling = await training.saveWeightsAndGetSamplingClient();
        const { sequences } = await sampling.sample({ prompt, numSamples: 2, samplingParams: { maxTokens: 4, temperature: 0 } });
        expect(sequences.map(({ tokens }) => tokens.length)).toEqual([4, 4]);
      },
      'learn',
    );
  });

  it('sends a body of a megabyte whole', async () => {
    await withClient(optionsOf(), async (service) => {
      const training = await service.createLoraTrainingClient(MODEL);
      const tokens = Array.from({ length: 2_000 }, (_none, index) => index % 250);
      const { metrics } = await training.forward(
        Array.from({ length: 40 }, () => nextTokenDatum(tokens)),
        'cross_entropy',
      );
      expect(Number.isFinite(metrics['loss:sum'])).toBe(true);
    });
  });

  it('keeps the order of calls that were not awaited', async () => {
    await withClient(optionsOf(), async (service, server) => {
      const training = await service.createLoraTrainingClient(MODEL);
      const data = [nextTokenDatum([1, 2, 3])];
      const calls = Array.from({ length: 10 }, () => [
        training.forwardBackward(data, 'cross_entropy'),
        training.optimStep({ learningRate: 0 }),
      ]);
      for (const call of calls.flat()) await call;
      const seqIds = [...server.callsTo('forwardBackward'), ...server.callsTo('optimStep')].map(({ request }) => Number(request.seqId));
      expect(new Set(seqIds).size).toBe(20);
    });
  });

  it('survives broken connections and a busy server', async () => {
    await withClient(optionsOf(), async (service, server) => {
      server.on('forwardBackward').fault('reset').once();
      server
        .on('optimStep')
        .reply(503, { headers: { 'retry-after-ms': '1' } })
        .once();
      const training = await service.createLoraTrainingClient(MODEL);
      const forward = training.forwardBackward([nextTokenDatum([1, 2, 3])], 'cross_entropy');
      await training.optimStep({ learningRate: 1e-3 });
      expect((await forward).lossFnOutputs).toHaveLength(1);
    });
  });

  it('has two hundred samples in flight', async () => {
    await withClient(optionsOf(), async (service) => {
      const sampling = await service.createSamplingClient({ baseModel: 'tinkex/tiny' });
      const samples = Array.from({ length: 200 }, () => sampling.sample({ prompt, samplingParams: { maxTokens: 2 } }));
      let sequences = 0;
      for (const sample of samples) sequences += (await sample).sequences.length;
      expect(sequences).toBe(200);
    });
  });

  it('ends a wait when its signal is aborted, and everything when it is closed', async () => {
    await withClient(optionsOf(), async (service, server) => {
      const training = await service.createLoraTrainingClient(MODEL);
      const gate = server.gate('forwardBackward');
      const forward = training.forwardBackward([nextTokenDatum([1, 2, 3])], 'cross_entropy');
      const controller = new AbortController();
      const wait = failureOf(forward.result({ signal: controller.signal }));
      controller.abort();
      expect(await wait).toMatchObject({ name: 'AbortError' });
      gate.open();
      expect((await forward).lossFnOutputs).toHaveLength(1);
    });
  });
});

describe('a server that is not there', () => {
  it('is named in the error, without the key', async () => {
    const server = await startServer();
    const { url } = server;
    await server.close();
    const service = new ServiceClient({ baseUrl: url, apiKey: 'tml-secret', maxRetries: 0, maxRetryMs: 0 });
    const error = await failureOf(service.getServerCapabilities());
    await service.close();
    expect(error).toMatchObject({ name: 'ConnectionError' });
    expect(String(error)).toContain(new URL(url).host);
    expect(String(error)).not.toContain('secret');
  });
});
