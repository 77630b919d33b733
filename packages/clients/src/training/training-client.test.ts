import { serverProtobuf } from '@tinkex/testkit';
import { datum, type ForwardBackwardOutput, FutureExpiredError, ModelInput, ValidationError } from '@tinkex/types';
import { chunkData, combineForwardBackwardOutputs } from '@tinkex/types/wire';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../../vectors/read.js';
import { miniServer, seqIdOf } from '../../test/support/mini-server.js';
import { later, type ScriptedAnswer } from '../../test/support/scripted-transport.js';
import type { TrainingClient } from './training-client.js';

const one = datum({ modelInput: ModelInput.fromInts([1, 2]), lossFnInputs: { targetTokens: [2, 3], weights: [1, 1] } });
const many = (count: number) => Array.from({ length: count }, () => one);
const turn = () => new Promise((resolve) => setImmediate(resolve));

interface OrderInput {
  calls: { method: 'forward_backward' | 'optim_step' | 'save_state'; num_data?: number }[];
  parallel_fwdbwd_chunks: boolean;
  fwdbwd_max_chunk_len: number;
}

function call(training: TrainingClient, { method, num_data = 0 }: OrderInput['calls'][number]) {
  if (method === 'forward_backward') return training.forwardBackward(many(num_data), 'cross_entropy');
  return method === 'optim_step' ? training.optimStep() : training.saveState('s');
}

describe('submission-order vectors', () => {
  it.each(readVectors<OrderInput, { log: ['start' | 'accepted', number][] }>('submission-order'))('$name', async ({ input, expected }) => {
    const { calls, ...config } = input;
    const server = miniServer(config);
    const log: [string, number][] = [];
    for (const route of ['forward_backward', 'optim_step', 'save_weights']) {
      server.routes.set(route, async (request) => {
        const seqId = seqIdOf(request);
        log.push(['start', seqId]);
        const answer = await later(server.clock, 10, { status: 200, body: { request_id: `${route}-${seqId}` } });
        log.push(['accepted', seqId]);
        return answer;
      });
    }
    const training = await server.training();
    const futures = calls.map((each) => call(training, each));
    await server.clock.runUntil(Promise.all(futures));
    expect(log).toEqual(expected.log);
    await server.service.close();
  });
});

describe('chunking vectors', () => {
  interface Input {
    datum_estimated_bytes: number[];
    fwdbwd_max_chunk_len: number;
    fwdbwd_max_chunk_bytes_count: number;
  }
  it.each(readVectors<Input, { chunks: { datum_indices: number[]; estimated_bytes: number }[] }>('chunking'))(
    '$name',
    ({ input, expected }) => {
      const items = input.datum_estimated_bytes.map((bytes, index) => ({ bytes, index }));
      const limits = { maxChunkLength: input.fwdbwd_max_chunk_len, maxChunkBytes: input.fwdbwd_max_chunk_bytes_count };
      const chunks = chunkData(items, limits, ({ bytes }) => bytes);
      expect(
        chunks.map(({ data, estimatedBytes }) => ({ datum_indices: data.map(({ index }) => index), estimated_bytes: estimatedBytes })),
      ).toEqual(expected.chunks);
    },
  );

  it.each([
    [{}, 'data[1].modelInput must be a ModelInput'],
    [null, 'data[1].modelInput must be a ModelInput'],
    [{ modelInput: [1, 2], lossFnInputs: {} }, 'data[1].modelInput must be a ModelInput'],
    [{ modelInput: ModelInput.fromInts([1]) }, 'data[1].lossFnInputs must be an object'],
    [
      { modelInput: ModelInput.fromInts([1]), lossFnInputs: { targetTokens: [2] } },
      'data[1].lossFnInputs.targetTokens must be a TensorData',
    ],
  ])('says which datum is none, and how to make one: %j', async (other, problem) => {
    const server = miniServer();
    const training = await server.training();
    const data = [one, other] as never;
    await expect(training.forwardBackward(data, 'cross_entropy')).rejects.toThrow(problem);
    const custom = training.forwardBackwardCustom([other] as never, () => ({ loss: 0, gradients: [] }));
    expect(ValidationError.isInstance(await custom.catch((error: unknown) => error))).toBe(true);
    await server.clock.runUntil(training.optimStep());
    expect(server.submittedSeqIds()).toEqual([1]);
    await server.service.close();
  });

  it('no data fails the call, sends nothing and uses no number', async () => {
    const server = miniServer();
    const training = await server.training();
    await expect(training.forwardBackward([], 'cross_entropy')).rejects.toThrow('data is empty');
    await server.clock.runUntil(training.optimStep());
    expect(server.submittedSeqIds()).toEqual([1]);
    await server.service.close();
  });
});

describe('metric-reduction vectors', () => {
  interface Input {
    results: { metrics: Record<string, number | string>; num_loss_fn_outputs: number }[];
  }
  it.each(readVectors<Input, { metrics?: Record<string, number | string>; error?: string }>('metric-reduction'))(
    '$name',
    ({ input, expected }) => {
      const outputs = input.results.map(
        ({ metrics, num_loss_fn_outputs }): ForwardBackwardOutput => ({
          lossFnOutputType: 'T',
          lossFnOutputs: Array.from({ length: num_loss_fn_outputs }, () => ({})),
          metrics: Object.fromEntries(Object.entries(metrics).map(([key, value]) => [key, Number(value)])),
        }),
      );
      const combine = () => combineForwardBackwardOutputs(outputs, { mode: 'strict' }).metrics;
      if (expected.metrics === undefined) {
        expect(combine).toThrow();
        return;
      }
      const metrics = combine();
      expect(Object.keys(metrics)).toEqual(Object.keys(expected.metrics));
      for (const [key, value] of Object.entries(expected.metrics)) {
        if (Number.isFinite(Number(value))) expect(metrics[key]).toBeCloseTo(Number(value), 9);
        else expect(metrics[key]).toBe(Number(value));
      }
    },
  );
});

describe('TrainingClient', () => {
  it('a refused chunk fails its call, names the chunks, and later operations continue in order', async () => {
    const server = miniServer({ fwdbwd_max_chunk_len: 1 });
    const training = await server.training();
    server.routes.set('forward_backward', (request) =>
      seqIdOf(request) === 3
        ? { status: 413, body: { detail: 'too large' } }
        : { status: 200, body: { request_id: `forward-${seqIdOf(request)}` } },
    );
    const pass = training.forwardBackward(many(3), 'cross_entropy');
    const step = training.optimStep();
    const next = training.forwardBackward(many(1), 'cross_entropy');
    await expect(server.clock.runUntil(pass)).rejects.toMatchObject({
      status: 413,
      message: expect.stringMatching(/too large .*chunk 3 of 3, sequence ID 3; accepted before: 2; given up: 1/),
    });
    await server.clock.runUntil(Promise.all([step, next]));
    expect(server.submittedSeqIds()).toEqual([2, 3, 4, 5]);
    expect(pass.status).toBe('rejected');
    await server.service.close();
  });

  it('takes the numbers of a step and of a loss function as they are when the method is called', async () => {
    const server = miniServer();
    const training = await server.training();
    const adam = { learningRate: 0.1 };
    const lossFnConfig = { clip_low_threshold: 0.1 };
    const work = [0.2, 0.3].flatMap((value) => {
      const calls = [training.forwardBackward(many(1), 'ppo', { lossFnConfig }), training.optimStep(adam)];
      adam.learningRate = value;
      lossFnConfig.clip_low_threshold = value;
      return calls;
    });
    await server.clock.runUntil(Promise.all(work));
    const rates = server.transport.of('optim_step').map(({ body }) => (body as { adam_params: object }).adam_params);
    expect(rates).toMatchObject([{ learning_rate: 0.1 }, { learning_rate: 0.2 }]);
    const passes = server.transport
      .of('forward_backward')
      .map(({ bytes }) => serverProtobuf.forwardBackwardRequest.decode(bytes as Uint8Array));
    expect(passes.map(({ lossFnConfig: sent }) => sent)).toEqual([{ clip_low_threshold: 0.1 }, { clip_low_threshold: 0.2 }]);
    await server.service.close();
  });

  it('in sequential mode the chunks after a refused one are never sent', async () => {
    const server = miniServer({ fwdbwd_max_chunk_len: 1, parallel_fwdbwd_chunks: false });
    const training = await server.training();
    await server.clock.runUntil(training.forward(many(1), 'cross_entropy'));
    server.routes.set('forward_backward', () => ({ status: 403, body: { detail: 'no' } }));
    await expect(server.clock.runUntil(training.forwardBackward(many(3), 'cross_entropy'))).rejects.toMatchObject({ status: 403 });
    await server.clock.runUntil(training.optimStep());
    expect(server.submittedSeqIds()).toEqual([1, 2, 5]);
    await server.service.close();
  });

  it('gives up the other chunks of a refused call instead of retrying them for minutes', async () => {
    const server = miniServer({ fwdbwd_max_chunk_len: 1 });
    const training = await server.training();
    await server.clock.runUntil(training.forwardBackward(many(1), 'cross_entropy'));
    server.routes.set('forward_backward', (request) =>
      seqIdOf(request) === 3 ? { status: 422, body: { detail: 'bad' } } : { status: 503, body: {} },
    );
    const start = server.clock.elapsedMs;
    await expect(server.clock.runUntil(training.forwardBackward(many(3), 'cross_entropy'))).rejects.toMatchObject({ status: 422 });
    expect(server.clock.elapsedMs - start).toBeLessThan(1_000);
    await server.clock.runUntil(training.optimStep());
    await server.service.close();
  });

  it('an operation canceled while it waits for its turn is skipped; its sequence ID is not used again', async () => {
    const server = miniServer();
    const training = await server.training();
    const gate: { open?: (answer: ScriptedAnswer) => void } = {};
    server.routes.set('forward_backward', () => new Promise((resolve) => (gate.open = resolve)));
    const controller = new AbortController();
    const first = training.forwardBackward(many(1), 'cross_entropy');
    const cancelled = training.optimStep({}, { signal: controller.signal });
    const timed = training.optimStep({}, { timeoutMs: 50 });
    const last = training.optimStep();
    await turn();
    controller.abort();
    await expect(cancelled).rejects.toMatchObject({ name: 'AbortError' });
    await server.clock.advance(50);
    await expect(timed).rejects.toMatchObject({ name: 'TimeoutError', phase: 'total' });
    gate.open?.({ status: 200, body: { request_id: 'forward-1' } });
    await server.clock.runUntil(Promise.all([first, last]));
    expect(server.submittedSeqIds()).toEqual([1, 4]);
    await server.service.close();
  });

  it('a call whose signal is aborted beforehand sends nothing and takes no number', async () => {
    const server = miniServer();
    const training = await server.training();
    await expect(training.optimStep({}, { signal: AbortSignal.abort('early') })).rejects.toMatchObject({ cause: 'early' });
    await server.clock.runUntil(training.optimStep());
    expect(server.submittedSeqIds()).toEqual([1]);
    await server.service.close();
  });

  it('holds chunks back while too many bytes are being submitted', async () => {
    const server = miniServer({ fwdbwd_max_chunk_len: 1, fwdbwd_dispatch_bytes_semaphore_size: 10 });
    const training = await server.training();
    let inFlight = 0;
    let most = 0;
    server.routes.set('forward_backward', async (request) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      const answer = await later(server.clock, 10, { status: 200, body: { request_id: `forward-${seqIdOf(request)}` } });
      inFlight -= 1;
      return answer;
    });
    await server.clock.runUntil(training.forwardBackward(many(6), 'cross_entropy'));
    expect(most).toBe(1);
    expect(server.submittedSeqIds()).toEqual([2, 3, 4, 5, 6, 1]);
    await server.service.close();
  });

  it('stops polling the other chunks when one of them fails', async () => {
    const server = miniServer({ fwdbwd_max_chunk_len: 1 });
    const training = await server.training();
    server.routes.set('retrieve_future', ({ body }) => {
      const { request_id } = body as { request_id: string };
      return request_id === 'forward_backward-2' ? { status: 410, body: {} } : { status: 408, body: {} };
    });
    const pass = training.forwardBackward(many(2), 'cross_entropy');
    await expect(server.clock.runUntil(pass)).rejects.toThrow(FutureExpiredError);
    const polls = server.transport.of('retrieve_future').length;
    await server.clock.advance(60_000);
    expect(server.transport.of('retrieve_future')).toHaveLength(polls);
    await server.service.close();
  });

  it('unnamed sampler saves take a new sampler number for each attempt and keep their own', async () => {
    const server = miniServer();
    const training = await server.training();
    let attempts = 0;
    server.routes.set('save_weights_for_sampler', () => {
      attempts += 1;
      return attempts < 3 ? { status: 503, body: {} } : { status: 200, body: { request_id: 'saved' } };
    });
    server.routes.set('retrieve_future', () => ({ status: 200, body: { path: null, sampling_session_id: 'S:sample:9' } }));
    const sampling = await server.clock.runUntil(training.saveWeightsAndGetSamplingClient());
    expect(sampling.samplingSessionId).toBe('S:sample:9');
    const bodies = server.transport.of('save_weights_for_sampler').map(({ body }) => body);
    expect(bodies).toEqual(
      [0, 1, 2].map((n) => ({ model_id: 'S:train:0', seq_id: 1, sampling_session_seq_id: n, type: 'save_weights_for_sampler' })),
    );
    await server.service.close();
  });

  it('unload waits for everything called before and carries no number', async () => {
    const server = miniServer();
    const training = await server.training();
    server.routes.set('retrieve_future', () => ({ status: 200, body: { model_id: 'S:train:0' } }));
    const step = training.optimStep();
    const unloaded = training.unload();
    await server.clock.runUntil(Promise.all([step, unloaded]));
    expect(server.transport.seen.map(({ path }) => path).filter((path) => /optim_step|unload/.test(path))).toEqual([
      '/api/v1/optim_step',
      '/api/v1/unload_model',
    ]);
    expect(server.transport.of('unload_model')[0]?.body).toEqual({ model_id: 'S:train:0', type: 'unload_model' });
    await server.service.close();
  });

  it('sends headers of the call with the submission and with each poll', async () => {
    const server = miniServer();
    const training = await server.training();
    await server.clock.runUntil(training.optimStep({}, { headers: { 'x-trace': 't1' } }));
    expect(server.transport.of('optim_step')[0]?.headers).toMatchObject({ 'x-trace': 't1' });
    expect(server.transport.of('retrieve_future').at(-1)?.headers).toMatchObject({ 'x-trace': 't1' });
    await server.service.close();
  });
});
