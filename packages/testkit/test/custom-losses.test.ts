import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readVectors } from '../../../vectors/read.js';
import { startServer } from '../src/index.js';
import { brokenRules, rawTest } from './fixture.js';
import { forwardBackwardBody, RawClient } from './raw-client.js';

type Body = Readonly<Record<string, unknown>> & { readonly graph: { readonly nodes: readonly Readonly<Record<string, unknown>>[] } };

const vectors = readVectors<unknown, Body>('create-custom-loss');
const WEIGHTED = { ...(vectors[0]?.expected as Body), name: 'weighted' };

/** A body of the vectors for a session, with another sequence ID. */
const bodyOf = (body: Body, sessionId: string, seqId = 0) => ({ ...body, session_id: sessionId, custom_loss_seq_id: seqId });

async function createLoss(client: RawClient, sessionId: string, body: Body, seqId = 0): Promise<string> {
  const { json } = await client.post('create_custom_loss', bodyOf(body, sessionId, seqId));
  return (await client.result(json.request_id, 'CreateCustomLoss')).json.loss_id;
}

const tensor = (data: readonly number[], shape: readonly number[] = [data.length], dtype = 'float32') => ({ data, dtype, shape });

/** A pass of one datum with the loss function custom. */
function passBody(modelId: string, seqId: number, config: object, inputs: Readonly<Record<string, unknown>>) {
  const body = forwardBackwardBody(modelId, seqId);
  const { data } = body['forward_backward_input'] as { data: { loss_fn_inputs: object }[] };
  const given = { ...data[0], loss_fn_inputs: { target_tokens: tensor([2, 3, 4], [3], 'int64'), ...inputs } };
  return { ...body, forward_backward_input: { loss_fn: 'custom', loss_fn_config: config, data: [given] } };
}

describe('create_custom_loss', () => {
  rawTest.for(vectors)('takes the graph $name of the Python SDK', async ({ expected }, { client, server }) => {
    const sessionId = await client.createSession();
    const { json } = await client.post('create_custom_loss', bodyOf(expected, sessionId));
    const result = await client.result(json.request_id, 'CreateCustomLoss');
    expect(result.json).toEqual({ loss_id: `${sessionId}:loss:0`, type: 'create_custom_loss' });
    server.verify();
  });

  rawTest('gives a repeat the same future, and refuses another body under a known sequence ID', async ({ client, server }) => {
    const sessionId = await client.createSession();
    const first = await client.post('create_custom_loss', bodyOf(WEIGHTED, sessionId));
    const second = await client.post('create_custom_loss', bodyOf(WEIGHTED, sessionId));
    expect(second.json.request_id).toBe(first.json.request_id);
    expect((await client.post('create_custom_loss', bodyOf({ ...WEIGHTED, name: 'other' }, sessionId))).status).toBe(409);
    expect(brokenRules(server)).toEqual(['seq-conflict']);
  });

  rawTest('refuses what the interpreter does not have, and names the node', async ({ client, server }) => {
    const sessionId = await client.createSession();
    const nodes = WEIGHTED.graph.nodes.map((node) => (node['name'] === 'mul' ? { ...node, target: 'torch.matmul' } : node));
    const { status, json } = await client.post(
      'create_custom_loss',
      bodyOf({ ...WEIGHTED, graph: { ...WEIGHTED.graph, nodes } }, sessionId),
    );
    expect(status).toBe(400);
    expect(json.detail).toContain("node 'mul' (torch.matmul) is not an allowed operation");
    server.verify();
  });

  rawTest('refuses a body that is not a graph, and an unknown session', async ({ client, server }) => {
    const sessionId = await client.createSession();
    const broken = { ...WEIGHTED, graph: { format: 2, nodes: WEIGHTED.graph.nodes } };
    expect((await client.post('create_custom_loss', bodyOf(broken, sessionId))).status).toBe(422);
    expect((await client.post('create_custom_loss', bodyOf(WEIGHTED, 'sess-9'))).status).toBe(404);
    expect(brokenRules(server)).toEqual(['body-invalid', 'session-unknown']);
  });
});

describe('the loss function custom', () => {
  rawTest.override({ options: { dialect: 'json' } });

  rawTest('runs the stored graph on each datum', async ({ client, server }) => {
    const sessionId = await client.createSession();
    const modelId = await client.createModel(sessionId);
    const lossId = await createLoss(client, sessionId, WEIGHTED);
    const { json } = await client.post('forward_backward', passBody(modelId, 1, { loss_id: lossId }, { advantages: tensor([1, 2, 3]) }));
    const output = await client.result(json.request_id, 'ForwardBackward');
    // The canned engine gives every token the log-probability -0.5.
    expect(output.json.metrics).toEqual({ 'loss:sum': 3, 'tokens:sum': 3 });
    server.verify();
  });

  rawTest('takes a single number, whose shape protobuf does not carry', async ({ client }) => {
    const sessionId = await client.createSession();
    const modelId = await client.createModel(sessionId);
    const lossId = await createLoss(client, sessionId, vectors[3]?.expected as Body);
    const { json } = await client.post(
      'forward_backward',
      passBody(modelId, 1, { loss_id: lossId }, { mask: { data: [2], dtype: 'float32' } }),
    );
    const { metrics } = (await client.result(json.request_id, 'ForwardBackward')).json;
    expect(metrics).toEqual({ 'custom/x:sum': expect.closeTo(2.4), 'custom/y:mean': 9, 'loss:sum': expect.closeTo(2.4), 'tokens:sum': 3 });
  });

  rawTest('refuses a loss that the session does not have', async ({ client, server }) => {
    const sessionId = await client.createSession();
    const other = await client.createSession();
    const lossId = await createLoss(client, other, WEIGHTED);
    const modelId = await client.createModel(sessionId);
    const post = (seqId: number, config: object) => client.post('forward_backward', passBody(modelId, seqId, config, {}));
    expect((await post(1, { loss_id: lossId })).json.detail).toContain(`There is no custom loss ${lossId} in the session ${sessionId}`);
    expect((await post(2, {})).json.detail).toContain('needs the text setting loss_id');
    expect((await post(3, { loss_id: 1 })).json.detail).toContain('needs the text setting loss_id');
    expect((await post(4, { loss_id: lossId, beta: 1 })).json.detail).toContain('has no setting beta');
    server.verify();
  });

  rawTest('fails the pass when a datum lacks an input, has another rank, or does not fit', async ({ client }) => {
    const sessionId = await client.createSession();
    const modelId = await client.createModel(sessionId);
    const lossId = await createLoss(client, sessionId, WEIGHTED);
    const failure = async (seqId: number, inputs: Readonly<Record<string, unknown>>) => {
      const { json } = await client.post('forward_backward', passBody(modelId, seqId, { loss_id: lossId }, inputs));
      return (await client.result(json.request_id, 'ForwardBackward')).json;
    };
    expect(await failure(1, {})).toMatchObject({
      category: 'user',
      error: expect.stringContaining('data[0].lossFnInputs.advantages is missing'),
    });
    expect((await failure(2, { advantages: tensor([1, 2, 3], [3, 1]) })).error).toContain('has shape [3, 1]; the loss declares rank 1');
    expect((await failure(3, { advantages: tensor([1, 2]) })).error).toContain("node 'mul' (operator.mul) combines shapes that do not fit");
    expect((await failure(4, { advantages: tensor([1, 2, 3]) })).metrics).toBeDefined();
  });
});

it('a loss survives a restart of the server', async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'testkit-losses-'));
  try {
    const before = await startServer({ dialect: 'json', stateDir });
    const first = new RawClient(before);
    const sessionId = await first.createSession();
    const modelId = await first.createModel(sessionId);
    const lossId = await createLoss(first, sessionId, WEIGHTED);
    await first.close();
    await before.close();

    await using after = await startServer({ dialect: 'json', stateDir });
    const second = new RawClient(after);
    const { json } = await second.post('forward_backward', passBody(modelId, 1, { loss_id: lossId }, { advantages: tensor([1, 2, 3]) }));
    expect((await second.result(json.request_id, 'ForwardBackward')).json.metrics['tokens:sum']).toBe(3);
    const repeated = await second.post('create_custom_loss', bodyOf(WEIGHTED, sessionId));
    expect((await second.poll(repeated.json.request_id, 'CreateCustomLoss')).status).toBe(410);
    await second.close();
  } finally {
    await rm(stateDir, { recursive: true, force: true });
  }
});
