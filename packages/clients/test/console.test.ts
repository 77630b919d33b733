import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { AdminClient } from '../src/index.js';
import { miniServer } from './support/mini-server.js';

it('shows ids and status of clients and futures, and no part they are made of', async () => {
  const server = miniServer();
  const { service, clock } = server;
  expect(inspect(service)).toBe(`ServiceClient { baseUrl: '${service.baseUrl}', status: 'no session' }`);
  const training = await server.training();
  expect(inspect(training)).toBe("TrainingClient { modelId: 'S:train:0', optimizer: 'adamw' }");
  const sessionId = await service.sessionId();
  expect(inspect(service, { breakLength: 200 })).toBe(
    `ServiceClient { baseUrl: '${service.baseUrl}', sessionId: '${sessionId}', status: 'open' }`,
  );
  server.routes.set('create_sampling_session', () => ({ body: { sampling_session_id: 'sampler' } }));
  const sampling = await clock.runUntil(training.createSamplingClient('tinker://S:train:0/sampler_weights/a'));
  expect(inspect(sampling)).toBe(`SamplingClient { samplingSessionId: 'sampler', sessionId: '${sessionId}' }`);
  expect(inspect(service.createRestClient())).toBe(`RestClient { baseUrl: '${service.baseUrl}' }`);

  const future = training.optimStep({ learningRate: 1e-4 });
  expect(inspect(future, { breakLength: 200 })).toBe("ApiFuture { requestType: 'OptimStep', status: 'submitting', requestIds: [] }");
  await service.close();
  await future.catch(() => undefined);
  expect(inspect(future)).toContain("status: 'rejected'");
  expect(inspect(service)).toContain("status: 'closed'");
});

it('shows no key', () => {
  expect(inspect(new AdminClient({ apiKey: 'tml-secret', baseUrl: 'http://127.0.0.1:1' }))).toBe(
    "AdminClient { baseUrl: 'http://127.0.0.1:1' }",
  );
});
