import { join } from 'node:path';
import { distillOnPolicy, distillSelf, promptGroup, type SelfDistillationMode, softTargetDataset, trainSupervised } from '@tinkex/cookbook';
import { readRun } from '@tinkex/telemetry/runs';
import { describe, expect, it } from 'vitest';
import { readCookbookVectors } from '../../../vectors/read.js';
import { recordedData, recordedSft } from './support/recorded-sft.js';
import { rig } from './support/rig.js';
import { vowelGroups } from './support/vowel-groups.js';

const setup = rig();
const SETTINGS = { model: 'tinkex/tiny', learningRate: 0.05, loraRank: 8, saveEvery: 0, evalEvery: 0 } as const;

describe('distillOnPolicy', () => {
  interface Recorded {
    readonly run: string;
    readonly metricsJsonl: Record<string, number>[];
  }

  it('has the metrics of the reference, with single prefixes', async () => {
    const service = setup.connect();
    const datasets = [{ groups: vowelGroups(4), teacher: { baseModel: 'tinkex/tiny' } }];
    const options = {
      ...SETTINGS,
      service,
      datasets,
      maxTokens: 6,
      groupsPerBatch: 2,
      groupSize: 4,
      shuffle: false,
      testDataset: vowelGroups(2),
      evalEvery: 1,
    };
    const { logPath } = await distillOnPolicy({ ...options, logPath: join(setup.folder, 'opd') });
    const { metrics } = await readRun(logPath);
    const recorded = readCookbookVectors<Recorded>('run-dpo-distillation').find(({ run }) => run === 'opd') as Recorded;
    const names = (record: object, isWanted: (name: string) => boolean) =>
      Object.keys(record)
        .filter((name) => !name.startsWith('time/') && isWanted(name))
        .toSorted();
    expect(names(metrics[0] ?? {}, (name) => !name.startsWith('test/'))).toEqual(names(recorded.metricsJsonl[0] ?? {}, () => true));
    expect(names(metrics[0] ?? {}, (name) => name.startsWith('test/'))).toContain('test/env/all/reward/total');
    // The student is its teacher before the first step.
    expect(metrics[0]?.teacher_kl).toBeCloseTo(0, 5);
  });

  it('moves the student towards its teacher', async () => {
    const service = setup.connect();
    const teacher = await trainSupervised({
      ...SETTINGS,
      service,
      data: recordedData(recordedSft('sft')),
      numEpochs: 2,
      logPath: join(setup.folder, 'teacher'),
    });
    const groups = Array.from({ length: 8 }, () => promptGroup('one?'));
    const datasets = [{ groups, teacher: { modelPath: teacher.samplerPath as string } }];
    const { logPath } = await distillOnPolicy({
      ...SETTINGS,
      service,
      datasets,
      learningRate: 0.02,
      maxTokens: 2,
      groupsPerBatch: 2,
      groupSize: 16,
      logPath: join(setup.folder, 'student'),
    });
    const { metrics } = await readRun(logPath);
    expect(Number(metrics.at(-1)?.teacher_kl)).toBeLessThan(Number(metrics[0]?.teacher_kl));
    expect(metrics[0]).toMatchObject({ 'env/all/reward/total': 0 });
  });
});

describe('soft targets', () => {
  it('train a student on the distribution of a teacher', async () => {
    const service = setup.connect();
    const teacher = await service.createSamplingClient({ baseModel: 'tinkex/tiny', retry: true });
    const { train } = recordedData(recordedSft('sft'));
    const data = { train: softTargetDataset(train, teacher, { topk: 3 }) };
    const { metrics, step } = await trainSupervised({ ...SETTINGS, service, data, maxSteps: 2, logPath: join(setup.folder, 'soft') });
    expect(step).toBe(2);
    expect(metrics.train_mean_nll).toBeGreaterThan(0);
  });
});

describe('distillSelf', () => {
  it.each(['forward-kl', 'reverse-kl', 'advantages'] as SelfDistillationMode[])('learns by %s', async (mode) => {
    const service = setup.connect();
    const data = Array.from({ length: 4 }, (_, index) => ({ question: `${index}+1?`, answer: `${index + 1}` }));
    const options = { ...SETTINGS, service, data, mode, topk: 4, skipFirstNTokens: 1, maxTokens: 6, groupsPerBatch: 2, groupSize: 2 };
    const { metrics, step } = await distillSelf({ ...options, logPath: join(setup.folder, mode) });
    expect(step).toBe(2);
    expect(metrics).toMatchObject({ 'sdft/num_datums': 4, 'optimizer_step:max': 2 });
    const name = { 'forward-kl': 'sdft/mean_teacher_entropy', 'reverse-kl': 'sdft/reverse_kl_mean', advantages: 'sdft/mean_teacher_lp' }[
      mode
    ];
    expect(metrics[name]).toBeDefined();
  });
});
