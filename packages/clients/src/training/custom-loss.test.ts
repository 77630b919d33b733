import { serverProtobuf } from '@tinkex/testkit';
import { type Datum, datum, ModelInput, TensorData, type TensorFields, ValidationError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../../vectors/read.js';
import { miniServer, passResult } from '../../test/support/mini-server.js';
import { customMetrics } from './custom-loss.js';
import { backwardData, forwardData, logprobsOf } from './custom-loss-data.js';

interface VectorTensor {
  dtype: 'float32' | 'int64';
  shape: number[];
  data: number[];
  sparse_crow_indices?: number[];
  sparse_col_indices?: number[];
}

interface Input {
  loss_fn_inputs: { target_tokens?: VectorTensor; weights?: VectorTensor; advantages?: VectorTensor };
  forward_logprobs: { shape: number[]; data: number[] };
  dC_dlogprobs: number[];
}

const tensor = ({ data, dtype, shape }: VectorTensor) => TensorData.fromArray(data, dtype, shape);

function datumOf({ target_tokens, weights, advantages }: Input['loss_fn_inputs']): Datum {
  return {
    modelInput: ModelInput.fromInts([1, 2]),
    lossFnInputs: {
      ...(target_tokens === undefined ? {} : { targetTokens: tensor(target_tokens) }),
      ...(weights === undefined ? {} : { weights: tensor(weights) }),
      ...(advantages === undefined ? {} : { advantages: tensor(advantages) }),
    },
  };
}

const plain = ({ data, dtype, shape, sparseCrowIndices, sparseColIndices }: TensorFields): VectorTensor => ({
  dtype,
  shape: [...(shape ?? [])],
  // A negative zero means the same as zero.
  data: [...data].map((value) => Number(value) + 0),
  ...(sparseCrowIndices === undefined ? {} : { sparse_crow_indices: Array.from(sparseCrowIndices, Number) }),
  ...(sparseColIndices === undefined ? {} : { sparse_col_indices: Array.from(sparseColIndices, Number) }),
});

const normal = (expected: VectorTensor): VectorTensor => ({ ...expected, data: expected.data.map((value) => value + 0) });

describe('custom-loss vectors', () => {
  it.each(readVectors<Input, { error?: string; forward_weights: VectorTensor; backward_weights: VectorTensor }>('custom-loss'))(
    '$name',
    ({ input, expected }) => {
      const given = datumOf(input.loss_fn_inputs);
      if (expected.error !== undefined) {
        expect(() => forwardData([given])).toThrow(ValidationError);
        return;
      }
      const before = plain(given.lossFnInputs.targetTokens as TensorData);
      const [forward] = forwardData([given]);
      expect(plain(forward?.lossFnInputs.weights as TensorData)).toEqual(normal(expected.forward_weights));
      const { data, shape } = input.forward_logprobs;
      const logprobs = logprobsOf([{ logprobs: TensorData.fromArray(data, 'float32', shape) }], [given]);
      expect(logprobs).toEqual([{ data: Float32Array.from(data), shape }]);
      const [backward] = backwardData([given], logprobs, { loss: 1, gradients: [input.dC_dlogprobs] });
      expect(plain(backward?.lossFnInputs.weights as TensorData)).toEqual(normal(expected.backward_weights));
      expect(Object.keys(backward?.lossFnInputs ?? {})).toEqual(['targetTokens', 'weights']);
      expect(plain(given.lossFnInputs.targetTokens as TensorData)).toEqual(before);
      expect(given.lossFnInputs.weights === undefined).toBe(input.loss_fn_inputs.weights === undefined);
    },
  );
});

interface MetricsInput extends Input {
  server_metrics: Record<string, number>;
  user_metrics?: Record<string, number>;
}

describe('custom-loss-metrics vectors', () => {
  it.each(readVectors<MetricsInput, { metrics?: Record<string, number>; error?: string }>('custom-loss-metrics'))(
    '$name',
    ({ input, expected }) => {
      const loss = input.dC_dlogprobs.reduce((sum, slope, index) => sum + slope * (input.forward_logprobs.data[index] as number), 0);
      const metrics = customMetrics(input.server_metrics, { loss, gradients: [], metrics: input.user_metrics });
      // The reference fails without the server's loss; the custom loss does not depend on it.
      expect(metrics).toEqual(expected.metrics ?? { ...input.server_metrics, 'loss:sum': loss });
    },
  );
});

it('sends only targets and weights, and where the tokens come from, in both passes', () => {
  const spans = [{ kind: 'sampled', sequenceId: 'q', offset: 0, length: 2 }] as const;
  const given = datum({
    modelInput: ModelInput.fromInts([1, 2]),
    lossFnInputs: { targetTokens: [2, 3], advantages: [1, 1] },
    provenance: { modelInput: spans, targetTokens: spans },
  });
  const logprobs = [{ data: Float32Array.of(-1, -2), shape: [2] }];
  for (const [sent] of [forwardData([given]), backwardData([given], logprobs, { loss: 1, gradients: [[1, 1]] })]) {
    expect(Object.keys(sent?.lossFnInputs ?? {})).toEqual(['targetTokens', 'weights']);
    expect(sent?.provenance).toEqual(given.provenance);
  }
});

it('takes an input that is undefined for one that is not given', () => {
  const { modelInput, lossFnInputs } = datum({ modelInput: ModelInput.fromInts([1, 2]), lossFnInputs: { targetTokens: [2, 3] } });
  const [forward] = forwardData([{ modelInput, lossFnInputs: { ...lossFnInputs, other: undefined } }]);
  expect(forward?.lossFnInputs.weights?.toArray()).toEqual([0, 0]);
});

const data = [0, 1, 2].map((n) => datum({ modelInput: ModelInput.fromInts([n, 2]), lossFnInputs: { targetTokens: [2, 3] } }));

async function customServer() {
  const server = miniServer({ fwdbwd_max_chunk_len: 2 });
  const requests: ReturnType<typeof serverProtobuf.forwardBackwardRequest.decode>[] = [];
  server.routes.set('forward_backward', ({ bytes }) => {
    const request = serverProtobuf.forwardBackwardRequest.decode(bytes as Uint8Array);
    requests.push(request);
    return { status: 200, body: { request_id: `forward-${request.seqId}-${request.data.length}` } };
  });
  const training = await server.training();
  server.routes.set('retrieve_future', ({ body }) => {
    const { request_id } = body as { request_id: string };
    if (!request_id.startsWith('forward')) return { status: 200, body: {} };
    return passResult(
      Array.from({ length: Number(request_id.at(-1)) }, () => [-1, -2]),
      { 'loss:sum': 7, 'own:sum': 1 },
    );
  });
  return { server, training, requests };
}

describe('forwardBackwardCustom', () => {
  it('keeps both passes together: an optimizer step called right after runs after the gradients', async () => {
    const { server, training, requests } = await customServer();
    const seen: number[][] = [];
    const custom = training.forwardBackwardCustom(data, async (_, logprobs) => {
      seen.push(...logprobs.map(({ data }) => [...data]));
      return {
        loss: 0.5,
        gradients: logprobs.map(({ data }) => data.map((value) => value * 2)),
        metrics: { 'own:sum': 42, 'mine:mean': 1 },
      };
    });
    const step = training.optimStep();
    const output = await server.clock.runUntil(custom);
    await server.clock.runUntil(step);
    expect(server.submittedSeqIds()).toEqual([2, 1, 4, 3, 5]);
    expect(seen).toEqual([
      [-1, -2],
      [-1, -2],
      [-1, -2],
    ]);
    expect(requests.map(({ forwardOnly = false, lossFn, seqId }) => [seqId, forwardOnly, lossFn])).toEqual([
      [2, true, 'cross_entropy'],
      [1, true, 'cross_entropy'],
      [4, false, 'cross_entropy'],
      [3, false, 'cross_entropy'],
    ]);
    expect(requests.at(-1)?.data[0]?.lossFnInputs.weights?.toArray()).toEqual([2, 4]);
    expect(output.loss).toBe(0.5);
    expect(output.metrics).toEqual({ 'loss:sum': 0.5, 'surrogate_loss:sum': 14, 'own:sum': 42, 'mine:mean': 1 });
    expect(output.lossFnOutputs).toHaveLength(3);
    expect(custom.requestIds).toEqual(['forward-3-2', 'forward-4-1']);
    await server.service.close();
  });

  it.each([
    ['too few gradients', () => ({ loss: 1, gradients: [[0, 0]] }), 'gradients has 1 entries for 3 data'],
    ['a missing gradient', () => ({ loss: 1, gradients: [[0, 0], undefined, [0, 0]] }), 'gradients[1] is missing'],
    ['a wrong shape', () => ({ loss: 1, gradients: [[0, 0], [0], [0, 0]] }), 'gradients[1] has 1 numbers for 2 logprobs'],
    [
      'a gradient that is no number',
      () => ({
        loss: 1,
        gradients: [
          [0, 0],
          [0, Number.NaN],
          [0, 0],
        ],
      }),
      'gradients[1][1] is NaN',
    ],
    ['no loss', () => ({ gradients: [] }), 'loss must be a number'],
    [
      'a throwing loss',
      () => {
        throw new TypeError('my bug');
      },
      'my bug',
    ],
  ])('%s fails the call and lets the next operation continue', async (_, loss, message) => {
    const { server, training } = await customServer();
    const custom = training.forwardBackwardCustom(data, loss as never);
    const step = training.optimStep();
    await expect(server.clock.runUntil(custom)).rejects.toThrow(message);
    await server.clock.runUntil(step);
    expect(server.submittedSeqIds()).toEqual([2, 1, 5]);
    await server.service.close();
  });

  it.each([['no targets', { weights: [1] }, 'data[0].lossFnInputs.targetTokens is missing']])(
    '%s: nothing is sent, no number is used',
    async (_, lossFnInputs, message) => {
      const { server, training } = await customServer();
      const bad = [datum({ modelInput: ModelInput.fromInts([1]), lossFnInputs })];
      await expect(training.forwardBackwardCustom(bad, () => ({ loss: 0, gradients: [] }))).rejects.toThrow(message);
      await server.clock.runUntil(training.optimStep());
      expect(server.submittedSeqIds()).toEqual([1]);
      await server.service.close();
    },
  );

  it.each(['abort', 'timeout', 'close'] as const)('%s ends a call whose loss never comes, and later operations continue', async (how) => {
    const server = miniServer();
    const training = await server.training();
    const data = [datum({ modelInput: ModelInput.fromInts([1]), lossFnInputs: { targetTokens: [2] } })];
    const controller = new AbortController();
    const options = how === 'timeout' ? { timeoutMs: 5_000 } : { signal: controller.signal };
    let isInLoss = (): void => undefined;
    const inLoss = new Promise<void>((resolve) => {
      isInLoss = resolve;
    });
    const pass = training.forwardBackwardCustom(
      data,
      () => {
        isInLoss();
        return new Promise<never>(() => undefined);
      },
      options,
    );
    const step = training.optimStep();
    const failure = pass.catch((error: unknown) => error);
    await server.clock.runUntil(inLoss);
    if (how === 'abort') controller.abort();
    else if (how === 'timeout') await server.clock.advance(5_000);
    else await server.service.close();
    expect(await failure).toMatchObject({ name: how === 'timeout' ? 'TimeoutError' : 'AbortError' });
    if (how === 'close') return;
    await server.clock.runUntil(step);
    expect(server.submittedSeqIds()).toEqual([1, 3]);
    await server.service.close();
  });

  it('a server that returns no logprobs, or too few outputs, is reported', async () => {
    const { server, training } = await customServer();
    server.routes.set('retrieve_future', () => passResult([]));
    await expect(server.clock.runUntil(training.forwardBackwardCustom(data, () => ({ loss: 0, gradients: [] })))).rejects.toThrow(
      'lossFnOutputs has 0 entries for 3 data',
    );
    await server.service.close();
  });
});
