import { ServiceClient } from '@tinkex/clients';
import { createTestServer, memoryTransport, startServer } from '@tinkex/testkit';
import { ServerError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { TitleWriter } from './title-writer.js';

const examples = [
  { text: 'Bees dance to tell where flowers are.', title: 'The waggle dance' },
  { text: 'Salt lowers the melting point of ice.', title: 'Why roads are salted' },
];
const options = { baseModel: 'tinkex/tiny', steps: 20, learningRate: 2e-2 };

describe('the title writer', () => {
  it('learns the titles it was shown', async () => {
    await using server = await startServer();
    await using service = new ServiceClient(server.clientOptions);
    const writer = await TitleWriter.train(service, examples, options);
    // The engine is small, but it really learns.
    expect(writer.losses.at(-1)).toBeLessThan((writer.losses[0] ?? 0) / 10);
    expect(await Promise.all(examples.map(({ text }) => writer.title(text)))).toEqual(examples.map(({ title }) => title));
    // Every request was checked against the protocol.
    server.verify();
  });

  it('sends one training step as one pass and one update, in this order', async () => {
    await using server = await startServer({ engine: 'canned' });
    await using service = new ServiceClient(server.clientOptions);
    await TitleWriter.train(service, examples, { ...options, steps: 2 });
    const order = server.calls.map(({ route }) => route).filter((route) => route === 'forwardBackward' || route === 'optimStep');
    expect(order).toEqual(['forwardBackward', 'optimStep', 'forwardBackward', 'optimStep']);
    expect(server.callsTo('optimStep')[0]?.request?.adamParams?.learningRate).toBe(2e-2);
  });

  it('returns no title when the service is busy', async () => {
    await using server = await startServer({ engine: 'canned' });
    await using service = new ServiceClient(server.clientOptions);
    const writer = await TitleWriter.train(service, examples, { ...options, steps: 1 });
    server.on('asample').reply(429, { retryAfterMs: 1 }).once();
    expect(await writer.title('Anything at all.')).toBeUndefined();
    expect(await writer.title('Anything at all.')).toEqual(expect.any(String)); // the next one is served
    server.verify();
  });

  it('waits for a title if it is patient', async () => {
    await using server = await startServer({ engine: 'canned' });
    await using service = new ServiceClient(server.clientOptions);
    const writer = await TitleWriter.train(service, examples, { ...options, steps: 1, isPatient: true });
    server.on('asample').reply(429, { retryAfterMs: 1 }).once();
    expect(await writer.title('Anything at all.')).toEqual(expect.any(String));
    expect(server.count('asample')).toBe(2); // rejected, then served
    server.verify();
  });

  it('does not hide other failures', async () => {
    await using server = await startServer({ engine: 'canned' });
    await using service = new ServiceClient(server.clientOptions);
    const writer = await TitleWriter.train(service, examples, { ...options, steps: 1 });
    server.on('asample').reply(500).once();
    await expect(writer.title('Anything at all.')).rejects.toBeInstanceOf(ServerError);
  });

  it('learns the same through an unreliable network', async () => {
    const clean = createTestServer();
    await using server = await startServer();
    const chaos = server.chaos({ seed: 7 });
    await using calm = new ServiceClient({ ...clean.clientOptions, transport: memoryTransport(clean) }); // no sockets at all
    await using shaken = new ServiceClient(server.clientOptions);
    const [expected, actual] = await Promise.all(
      [calm, shaken].map((service) => TitleWriter.train(service, examples, { ...options, steps: 6 })),
    );
    expect(chaos.faults).toBeGreaterThan(0);
    expect(actual?.losses).toEqual(expected?.losses);
    server.verify();
  });
});
