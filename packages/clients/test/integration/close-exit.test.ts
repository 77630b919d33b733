import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { rateLimiterFor } from '@tinkex/clients';
import { startServer, VirtualClock } from '@tinkex/testkit';
import { expect, it } from 'vitest';

/** Trains and samples, closes while everything is pending, says how the waits ended, and does not call `process.exit`. */
const program = ({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }): string => `
  import { ServiceClient } from '@tinkex/clients';
  import { nextTokenDatum } from '@tinkex/types';
  const service = new ServiceClient({ baseUrl: ${JSON.stringify(baseUrl)}, apiKey: ${JSON.stringify(apiKey)}, heartbeatIntervalMs: 50 });
  const sampling = await service.createSamplingClient({ baseModel: 'tinkex/tiny', retry: true });
  const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 2 });
  console.log('ready');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  const futures = [
    training.forwardBackward([nextTokenDatum([1, 2, 3])], 'cross_entropy'),
    training.optimStep(),
    ...Array.from({ length: 20 }, () => sampling.sample({ prompt: [1, 2], samplingParams: { maxTokens: 2 } })),
  ];
  await Promise.all(futures.map((future) => future.submitted()));
  const outcomes = Promise.allSettled(futures);
  await service.close();
  console.log(JSON.stringify([...new Set((await outcomes).map(({ status, reason }) => status + ' ' + reason?.name))]));
  process.stdin.destroy();
`;

it('C.5 a process that closes its client in the middle of everything exits by itself', async () => {
  await using server = await startServer();
  const running = promisify(execFile)(
    process.execPath,
    ['--conditions=@tinkex/source', '--import', 'tsx', '--input-type=module', '--eval', program(server.clientOptions)],
    { cwd: new URL('../..', import.meta.url) },
  );
  const { stdin, stdout } = running.child;
  stdout?.once('data', () => {
    server.pauseQueue();
    stdin?.write('go\n');
  });
  expect((await running).stdout).toBe('ready\n["rejected AbortError"]\n');
  while (server.openSockets > 0) await new Promise((resolve) => setImmediate(resolve));
  expect(server.inFlight()).toBe(0);
  server.verify();
});

it('C.2 the spellings of a URL that mean the same share a limiter: case, default port, trailing slash', () => {
  const clock = new VirtualClock();
  const limiter = rateLimiterFor('https://tinker.example/base', 'tml-key', clock);
  for (const url of ['https://TINKER.example/base', 'HTTPS://tinker.example:443/base', 'https://tinker.example/base/']) {
    expect(rateLimiterFor(url, 'tml-key', clock)).toBe(limiter);
  }
  for (const url of ['https://tinker.example:8443/base', 'http://tinker.example/base', 'https://tinker.example/Base']) {
    expect(rateLimiterFor(url, 'tml-key', clock)).not.toBe(limiter);
  }
  expect(rateLimiterFor('https://tinker.example/base', 'tml-other', clock)).not.toBe(limiter);
});
