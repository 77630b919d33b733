import { join } from 'node:path';
import { trainSupervised } from '@tinkex/cookbook';
import { readRun } from '@tinkex/telemetry/runs';
import { describe, expect, it } from 'vitest';
import { recordedData, recordedSft } from './support/recorded-sft.js';
import { rig } from './support/rig.js';

const setup = rig();
const SETTINGS = { model: 'tinkex/tiny', learningRate: 0.02, loraRank: 8, numEpochs: 2, evalEvery: 3 } as const;

/** What both records have; ours has other timings. */
function withoutTimes(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !name.startsWith('time/')));
}

function expectSameNumbers(
  actual: readonly Readonly<Record<string, unknown>>[],
  expected: readonly Readonly<Record<string, number>>[],
): void {
  expect(actual).toHaveLength(expected.length);
  for (const [index, record] of expected.entries()) {
    const ours = withoutTimes(actual[index] ?? {});
    expect(Object.keys(ours)).toEqual(Object.keys(record));
    for (const [name, value] of Object.entries(record)) {
      expect(Math.abs((ours[name] as number) - value) / Math.max(1, Math.abs(value)), `step ${index}: ${name}`).toBeLessThan(1e-6);
    }
  }
}

describe('the runs of the reference', () => {
  it.each([
    ['sft', { saveEvery: 3 }],
    ['sft-rolling', { saveEvery: 5, rollingSaveEvery: 2, submitAhead: 0, maxSteps: 7, lrSchedule: 'cosine' as const }],
  ])('%s gives the recorded numbers', async (name, options) => {
    const recorded = recordedSft(name);
    const logPath = join(setup.folder, name);
    const run = await trainSupervised({ ...SETTINGS, ...options, service: setup.connect(), data: recordedData(recorded), logPath });
    const folder = await readRun(logPath);
    expectSameNumbers(folder.metrics, recorded.metricsJsonl);
    expect(run.metrics.train_mean_nll).toBeCloseTo(recorded.metricsJsonl.at(-1)?.train_mean_nll as number, 6);
    expect(folder.checkpoints.map((record) => record.name)).toEqual(recorded.checkpointsJsonl.map((record) => record.name));
    expect(run.samplerPath).toMatch(/sampler_weights\/final$/);
    for (const [key, value] of Object.entries(folder.config ?? {})) {
      if (key in recorded.configJson && !['log_path', 'base_url', 'recipe_name', 'dataset_builder'].includes(key)) {
        expect(value, key).toEqual(recorded.configJson[key]);
      }
    }
  });

  it('sft-resume took 10 optimizer steps for 8, and sft-done none when it was started again; here both are exact', async () => {
    const stepsOf = (metrics: readonly Readonly<Record<string, unknown>>[]) => metrics.map((record) => record['optimizer_step:max']);
    expect(stepsOf(recordedSft('sft-resume').metricsJsonl)).toEqual([9, 10]);
    expect(stepsOf(recordedSft('sft-done').metricsJsonl)).toEqual([]);
    const service = setup.connect();
    const options = { ...SETTINGS, service, data: recordedData(recordedSft('sft')), logPath: join(setup.folder, 'resumed') };
    await trainSupervised({ ...options, maxSteps: 6 });
    await trainSupervised(options);
    expect(stepsOf((await readRun(options.logPath)).metrics)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const passes = setup.server.count('forwardBackward');
    await trainSupervised(options);
    expect(setup.server.count('forwardBackward')).toBe(passes);
  });

  it('a rolling checkpoint is deleted when the next one exists, and the last one after the final one', async () => {
    const logPath = join(setup.folder, 'rolling');
    const service = setup.connect();
    const data = recordedData(recordedSft('sft'));
    await trainSupervised({ ...SETTINGS, service, data, logPath, saveEvery: 5, rollingSaveEvery: 2 });
    const { checkpoints } = await readRun(logPath);
    const left: string[] = [];
    for await (const { tinkerPath } of service.createRestClient().listUserCheckpoints()) left.push(tinkerPath);
    const isLeft = (path: string | undefined) => left.includes(path as string);
    expect(checkpoints.map(({ name, statePath }) => [name, isLeft(statePath)])).toEqual([
      ['000002', false],
      ['000004', false],
      ['000005', true],
      ['000006', false],
      ['final', true],
    ]);
  });
});
