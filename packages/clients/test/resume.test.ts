import { ServiceClient } from '@tinkex/clients';
import { startServer } from '@tinkex/testkit';
import { NotFoundError, ValidationError } from '@tinkex/types';
import { expect, it } from 'vitest';

it('returns the step that the checkpoint was saved with', async () => {
  await using server = await startServer({ engine: 'canned' });
  await using service = new ServiceClient({ ...server.clientOptions, telemetry: false });
  const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny' });
  await training.saveState('any-name', { step: 12, userMetadata: { note: 'mine' } });
  const { step, checkpoint } = await service.resume({ trainingRunId: training.modelId });
  expect([step, checkpoint?.userMetadata]).toEqual([12, { note: 'mine', step: '12' }]);
});

it.each([-1, 1.5, Number.NaN])('refuses the step %d', async (step) => {
  await using server = await startServer({ engine: 'canned' });
  await using service = new ServiceClient({ ...server.clientOptions, telemetry: false });
  const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny' });
  await expect(training.saveState('name', { step })).rejects.toThrow(ValidationError);
});

it('knows no step of a checkpoint without one, or with something else under that name', async () => {
  await using server = await startServer({ engine: 'canned' });
  await using service = new ServiceClient({ ...server.clientOptions, telemetry: false });
  const training = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny' });
  await training.saveState('plain', { userMetadata: { step: 'twelve' } });
  expect((await service.resume({ trainingRunId: training.modelId })).step).toBeUndefined();
});

it('follows a run that has not saved yet to the checkpoint that it was resumed from', async () => {
  await using server = await startServer({ engine: 'canned' });
  await using service = new ServiceClient({ ...server.clientOptions, telemetry: false });
  const first = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny' });
  const { path } = await first.saveState('first', { step: 5 });
  const second = await service.resume({ trainingRunId: first.modelId, userMetadata: { team: 'blue' } });
  // The first run continues. The second one began before that.
  await first.saveState('later', { step: 6 });
  const third = await service.resume({ trainingRunId: second.training.modelId });
  expect([third.path, third.step]).toEqual([path, 5]);
  const fourth = await service.resume({ trainingRunId: third.training.modelId });
  expect(fourth.path).toBe(path);
  const run = await service.createRestClient().getTrainingRun(second.training.modelId);
  expect(run.userMetadata).toEqual({ team: 'blue', tinkex_resumed_from: path });
});

it('says so when there is nothing to continue from', async () => {
  await using server = await startServer({ engine: 'canned' });
  await using service = new ServiceClient({ ...server.clientOptions, telemetry: false });
  const first = await service.createLoraTrainingClient({ baseModel: 'tinkex/tiny' });
  await expect(service.resume({ trainingRunId: first.modelId })).rejects.toThrow(/Call saveState/);
  const { path } = await first.saveState('first');
  const { training } = await service.resume({ path });
  await service.createRestClient().deleteCheckpointFromTinkerPath(path);
  const lost = service.resume({ trainingRunId: training.modelId });
  await expect(lost).rejects.toThrow(NotFoundError);
  await expect(lost).rejects.toThrow('is gone');
});
