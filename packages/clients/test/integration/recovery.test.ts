import { RecoveryMonitor, ServiceClient, type TrainingClient } from '@tinkex/clients';
import { subscribe } from '@tinkex/http';
import { attachLogger, attachMetrics } from '@tinkex/telemetry';
import { startServer, VirtualClock } from '@tinkex/testkit';
import { nextTokenDatum } from '@tinkex/types';
import { expect, it } from 'vitest';
import { drive } from '../support/drive.js';

it('a run the server calls corrupted continues from its last checkpoint; events, log and metrics report it', async () => {
  await using server = await startServer();
  const clock = new VirtualClock();
  await using service = new ServiceClient({ ...server.clientOptions, clock, heartbeatIntervalMs: 3_600_000, telemetry: false });
  const rest = service.createRestClient();
  const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny', rank: 2, seed: 1 });
  const step = async (client: TrainingClient): Promise<number> => {
    const pass = client.forwardBackward([nextTokenDatum([1, 2, 3, 4])], 'cross_entropy');
    await client.optimStep({ learningRate: 0.05 });
    return (await pass).metrics['loss:sum'] ?? Number.NaN;
  };
  await step(training);
  const { path } = await training.saveState('step-1');
  const uninterrupted = await step(training);
  const run = await rest.getTrainingRun(training.modelId);

  const lines: string[] = [];
  const note = (message: string) => void lines.push(message);
  using _logger = attachLogger({ ...service.eventSource(), level: 'warn', sink: { debug: note, info: note, warn: note, error: note } });
  using metrics = attachMetrics();
  server
    .on('getTrainingRun')
    .reply(200, { ...run, corrupted: true })
    .once();
  const recovered = new Promise<TrainingClient>((resolve) => {
    const monitor = new RecoveryMonitor<TrainingClient>({
      service,
      records: rest,
      clock,
      intervalMs: 1_000,
      onEvent: (event) => {
        if (event.type === 'recovered') resolve(event.client);
      },
    });
    monitor.watch(training.modelId);
  });
  const seen: unknown[] = [];
  const unsubscribe = subscribe('tinkex:recovery:recovered', ({ clientId, trainingRunId, path: from, sessionId }) =>
    seen.push({ clientId, trainingRunId, from, sessionId }),
  );
  const client = await drive(clock, recovered);
  unsubscribe();
  expect(client.modelId).not.toBe(training.modelId);
  expect(await step(client)).toBe(uninterrupted);
  const { clientId, sessionId } = service.eventSource();
  expect(seen).toEqual([{ clientId, trainingRunId: training.modelId, from: path, sessionId }]);
  expect(lines).toEqual([`tinkex:recovery:broken ${training.modelId}`]);
  expect(metrics.total('tinkex_recovery_events_total', { kind: 'recovered' })).toBe(1);
  server.verify();
});
