import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../src/index.js';
import { forwardBackwardBody, optimBody, RawClient } from './raw-client.js';

describe('the training loop in the JSON dialect', () => {
  let server: TestServer;
  let client: RawClient;

  beforeEach(async () => {
    server = await startServer({ dialect: 'json' });
    client = new RawClient(server);
  });

  afterEach(async () => {
    await client.close();
    await server.close();
  });

  it('trains, and the loss falls', async () => {
    const modelId = await client.createModel(await client.createSession());
    const losses: number[] = [];
    for (let step = 0; step < 5; step++) {
      const submitted = await client.post('forward_backward', forwardBackwardBody(modelId, 2 * step + 1));
      const stepped = await client.post('optim_step', optimBody(modelId, 2 * step + 2, 0.05));
      const { json } = await client.result(submitted.json.request_id, 'ForwardBackward');
      losses.push(json.metrics['loss:sum']);
      expect((await client.result(stepped.json.request_id, 'OptimStep')).status).toBe(200);
    }
    expect(losses[4]).toBeLessThan((losses[0] ?? 0) / 2);
    server.verify();
  });
});
