import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { startServer } from '@tinkex/testkit';
import { AbortedError, datum, ModelInput } from '@tinkex/types';
import { expect, it } from 'vitest';
import { ServiceClient } from '../../src/index.js';

const one = datum({ modelInput: ModelInput.fromInts([1, 2]), lossFnInputs: { targetTokens: [2, 3], weights: [1, 1] } });

it('close() in the middle of everything leaves no socket, no call and no timer', async () => {
  await using server = await startServer();
  const service = new ServiceClient(server.clientOptions);
  const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 2 });
  server.pauseQueue();
  const futures = Array.from({ length: 30 }, () => [training.forwardBackward([one], 'cross_entropy'), training.optimStep()]).flat();
  await futures[0]?.submitted();
  const outcomes = Promise.allSettled(futures);
  await service.close();
  for (const outcome of await outcomes) expect((outcome as PromiseRejectedResult).reason).toSatisfy(AbortedError.isInstance);
  while (server.openSockets > 0) await new Promise((resolve) => setImmediate(resolve));
  expect(server.inFlight()).toBe(0);
});

it('a process that forgets to close its client, with heartbeats and polls running, ends by itself', async () => {
  await using server = await startServer();
  server.pauseQueue();
  const program = `
    import { ServiceClient } from '@tinkex/clients';
    const service = new ServiceClient({ baseUrl: ${JSON.stringify(server.url)}, apiKey: ${JSON.stringify(server.apiKey)}, heartbeatIntervalMs: 50 });
    await service.sessionId();
    console.log('started');
  `;
  const stdout = await runProgram(program);
  expect(stdout).toContain('started');
});

it('a program that awaits a call held back by a rate limit does not end before the call', async () => {
  await using server = await startServer({ engine: 'canned' });
  server.on('asample').reply(429, { detail: 'slow down' }, { 'retry-after-ms': '300' }).once();
  const stdout = await runProgram(`
    import { ServiceClient } from '@tinkex/clients';
    import { ModelInput } from '@tinkex/types';
    const service = new ServiceClient({ baseUrl: ${JSON.stringify(server.url)}, apiKey: ${JSON.stringify(server.apiKey)} });
    const sampling = await service.createSamplingClient({ baseModel: 'tinkex/tiny' });
    const call = { prompt: ModelInput.fromInts([1, 2]), samplingParams: { maxTokens: 1 } };
    await sampling.sample(call).catch((error) => console.log(error.name));
    const { sequences } = await sampling.sample(call);
    console.log(sequences.length, 'sequence');
  `);
  expect(stdout).toBe('RateLimitError\n1 sequence\n');
});

async function runProgram(program: string): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=@tinkex/source', '--import', 'tsx', '--input-type=module', '--eval', program],
    { timeout: 19_000, cwd: new URL('../..', import.meta.url) },
  );
  return stdout;
}
