import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceClient } from '@tinkex/clients';
import { type Env, type EnvGroup, problem, type RlConfig, type TrainingRun, trainRl } from '@tinkex/cookbook';
import { readRun } from '@tinkex/telemetry/runs';
import { VirtualClock } from '@tinkex/testkit';
import { ByteTokenizer, ModelInput } from '@tinkex/types';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCookbookVectors } from '../../../vectors/read.js';
import { rig } from './support/rig.js';
import { vowelEnv, vowelGroups } from './support/vowel-groups.js';

const setup = rig();
const SETTINGS = {
  model: 'tinkex/tiny',
  learningRate: 0.02,
  loraRank: 8,
  maxTokens: 6,
  groupsPerBatch: 2,
  groupSize: 4,
  evalEvery: 2,
  saveEvery: 2,
  shuffle: false,
} as const;
const PROMPT = ModelInput.fromText('vowels 3:', new ByteTokenizer());

async function train(
  name: string,
  options: Partial<RlConfig> & Pick<RlConfig, 'dataset'>,
): Promise<TrainingRun & { readonly service: ServiceClient }> {
  const service = setup.connect();
  return { ...(await trainRl({ ...SETTINGS, ...options, service, logPath: join(setup.folder, name) })), service };
}

/** What must be the same whether or not a run was interrupted. */
async function outcomeOf({ service, logPath, samplerPath }: TrainingRun & { readonly service: ServiceClient }) {
  const { metrics } = await readRun(logPath);
  const sampler = await service.createSamplingClient({ modelPath: samplerPath });
  return {
    metrics: metrics.map((record) => Object.fromEntries(Object.entries(record).filter(([name]) => !name.startsWith('time/')))),
    logprobs: Array.from(await sampler.computeLogprobs(PROMPT)).slice(1),
  };
}

describe('the recorded loops', () => {
  interface Recorded {
    readonly run: string;
    readonly metricsJsonl: Record<string, number>[];
    readonly checkpointsJsonl: Record<string, unknown>[];
    readonly requests: [string, number][];
  }
  const recorded = (run: string) => readCookbookVectors<Recorded>('run-rl').find((each) => each.run === run) as Recorded;
  const namesOf = (record: object) =>
    Object.keys(record)
      .filter((name) => !name.startsWith('time/'))
      .toSorted();
  const LOOPS: [string, Partial<RlConfig>][] = [
    [
      'rl',
      { testDataset: vowelGroups(2), klPenaltyCoef: 0.05, klReference: { baseModel: 'tinkex/tiny' }, computePostKl: true, numSubsteps: 2 },
    ],
    ['rl-multi', { dataset: vowelGroups(6, { turns: 2 }), lossFn: 'ppo', removeConstantRewardGroups: true }],
    ['rl-stream', { testDataset: vowelGroups(2), numMinibatches: 2 }],
  ];

  it.each(LOOPS)('%s has the names, counts and checkpoints of the reference', async (run, options) => {
    const { logPath, metrics } = await train(run, { dataset: vowelGroups(6), ...options });
    const { metrics: records, checkpoints } = await readRun(logPath);
    const { metricsJsonl, checkpointsJsonl } = recorded(run);
    expect(records.map(({ step }) => step)).toEqual(metricsJsonl.map(({ step }) => step));
    for (const [index, record] of records.entries()) {
      // Which groups are constant, and so which tags remain, depends on the samples.
      const tagged = (name: string) => run !== 'rl-multi' || !/env\/(even|odd)/.test(name);
      expect(namesOf(record).filter(tagged)).toEqual(namesOf(metricsJsonl[index] ?? {}).filter(tagged));
    }
    expect(checkpoints.map(({ name, batch }) => [name, batch])).toEqual(checkpointsJsonl.map(({ name, batch }) => [name, batch]));
    expect(checkpoints.at(-1)?.final).toBe(true);
    expect(metrics['optimizer_step:max']).toBe(metricsJsonl.at(-1)?.['optimizer_step:max']);
    expect(metrics['env/all/total_episodes']).toBeGreaterThan(0);
  });

  it('the asynchronous one trains on every batch and never on samples older than allowed', async () => {
    const made: number[] = [];
    const { logPath, step } = await train('async', {
      dataset: vowelGroups(12, { onMake: (index) => made.push(index) }),
      maxStepsOffPolicy: 2,
    });
    const { metrics } = await readRun(logPath);
    expect([step, made.toSorted((a, b) => a - b)]).toEqual([6, Array.from({ length: 12 }, (_, index) => index)]);
    const ages = metrics.map((record) => Number(record.step) - Number(record['sampling_client/step_min']));
    expect(ages).toEqual([0, 1, 2, 2, 2, 2]);
    // The reference writes evaluations as separate records, and counts steps under another name.
    const training = recorded('rl-async').metricsJsonl.filter((record) => 'optim/lr' in record);
    const ours = namesOf(metrics[0] ?? {});
    for (const name of namesOf(training[0] ?? {})) if (name !== 'training_client/step') expect(ours).toContain(name);
    // The reference has no bound on steps: groups that are too old are sampled again, or lost at the end.
    expect(metrics.map((record) => record['env/all/total_episodes'])).toEqual(new Array(6).fill(8));
  });
});

describe('learning', () => {
  it('raises the reward of a problem', async () => {
    const dataset = Array.from({ length: 8 }, () => problem({ question: 'Say a letter', grade: (text) => /^[a-zA-Z]/.test(text) }));
    const options = { dataset, groupsPerBatch: 1, groupSize: 16, maxTokens: 1, learningRate: 0.2, evalEvery: 0, saveEvery: 0 };
    const { metrics } = await train('learns', options);
    const { metrics: records } = await readRun(join(setup.folder, 'learns'));
    expect(Number(records[0]?.['env/all/correct'])).toBeLessThan(0.5);
    expect(metrics['env/all/correct']).toBeGreaterThan(0.8);
  });
});

describe('a resumed run', () => {
  const dataset = vowelGroups(8, { turns: 2 });
  const OPTIONS = {
    dataset,
    groupsPerBatch: 2,
    groupSize: 2,
    numSubsteps: 2,
    klPenaltyCoef: 0.1,
    klReference: { baseModel: 'tinkex/tiny' },
  } as const;

  it.each([
    ['synchronous', {}],
    ['streaming', { numMinibatches: 2, numSubsteps: 1 }],
  ])('of the %s loop ends as the uninterrupted one, wherever it was killed', async (loop, options) => {
    const expected = await outcomeOf(await train(`${loop}-whole`, { ...OPTIONS, ...options }));
    expect(expected.metrics.map(({ step }) => step)).toEqual([0, 1, 2, 3]);
    let run = 0;
    const kill = fc.record({ at: fc.constantFrom('make' as const, 'metrics' as const, 'checkpoint' as const), call: fc.nat(7) });
    await fc.assert(
      fc.asyncProperty(fc.array(kill, { minLength: 1, maxLength: 3 }), fc.nat(2), async (kills, rollingSaveEvery) => {
        const name = `${loop}-${run++}`;
        for (const { at, call } of kills) {
          let calls = 0;
          const count = (place: string) => {
            if (place === at && calls++ === call) throw new Error('killed');
          };
          const killing: Partial<RlConfig> = {
            sinks: [{ logMetrics: () => count('metrics') }],
            onStep: () => count('checkpoint'),
            rollingSaveEvery,
          };
          const killed = train(name, {
            ...OPTIONS,
            ...options,
            ...killing,
            dataset: vowelGroups(8, { turns: 2, onMake: () => count('make') }),
          });
          await killed.catch((error: Error) => expect(error.message).toBe('killed'));
        }
        expect(await outcomeOf(await train(name, { ...OPTIONS, ...options, rollingSaveEvery }))).toEqual(expected);
      }),
      { numRuns: Number(process.env.TINKEX_RESUME_RUNS ?? 2) },
    );
  });

  it('stops cleanly by a signal, in the middle of its rollouts, and continues with the same samples', async () => {
    const expected = await outcomeOf(await train('whole', OPTIONS));
    const controller = new AbortController();
    let made = 0;
    const onMake = () => {
      if (++made === 6) controller.abort();
    };
    const stopped = await train('signal', { ...OPTIONS, dataset: vowelGroups(8, { turns: 2, onMake }), signal: controller.signal });
    expect(stopped).toMatchObject({ step: 2, stopReason: 'aborted' });
    expect(await outcomeOf(await train('signal', OPTIONS))).toEqual(expected);
  });

  it('of the reference continues at the batch that its record says', async () => {
    const first = await train('python', { ...OPTIONS, maxSteps: 2 });
    await writeFile(
      join(first.logPath, 'checkpoints.jsonl'),
      `${JSON.stringify({ name: '000002', batch: 2, state_path: first.statePath })}\n`,
    );
    const expected = await outcomeOf(await train('whole', OPTIONS));
    expect((await outcomeOf(await train('python', OPTIONS))).logprobs).toEqual(expected.logprobs);
  });
});

describe('environments that fail', () => {
  const crashing = (fails: (index: number) => boolean, how: () => Env['step']): EnvGroup[] =>
    vowelGroups(4).map((group, index) => ({
      ...group,
      makeEnvs: async (context) => (await group.makeEnvs(context)).map((env) => (fails(index) ? { ...env, step: how() } : env)),
    }));
  const crash = () => () => {
    throw new Error('the game is broken');
  };
  const hang = () => () => new Promise<never>(() => undefined);

  it.each([1, 2])('end a run that is fail-fast, with %i minibatches (the reference hangs when it streams)', async (numMinibatches) => {
    const options = { numMinibatches, maxStepsOffPolicy: 1 };
    await expect(train('crash', { dataset: crashing((index) => index === 2, crash), ...options })).rejects.toThrow('the game is broken');
    const { checkpoints } = await readRun(join(setup.folder, 'crash'));
    expect(checkpoints).toEqual([]);
  });

  it.each([
    ['retry', { type: 'retry', maxRetries: 2 } as const, 2],
    ['min-viable', { type: 'min-viable', maxRetries: 1 } as const, 2],
  ])('are left out and counted with %s', async (name, strategy, steps) => {
    const { metrics, step } = await train(name, { dataset: crashing((index) => index === 2, crash), strategy, numMinibatches: 2 });
    expect(step).toBe(steps);
    expect(metrics).toMatchObject({ 'rollout_errors/groups_skipped': 1, 'env/all/total_episodes': 4 });
    expect(metrics['rollout_errors/Error']).toBe(metrics['rollout_errors/total']);
  });

  it('that hang are timed out, by call or by episode, and no batch waits for them', async () => {
    const clock = new VirtualClock();
    const run = train('hang', {
      dataset: crashing((index) => index === 1, hang),
      strategy: { type: 'retry', maxRetries: 0 },
      limits: { envTimeoutSeconds: 30 },
      clock,
    });
    const { metrics } = await untilSettled(run, clock);
    expect(metrics).toMatchObject({ 'rollout_errors/groups_skipped': 1, 'rollout_errors/total': 1 });
    const kept = train('kept', { dataset: crashing((index) => index === 1, hang), limits: { rolloutTimeoutSeconds: 30 }, clock });
    const { logPath } = await untilSettled(kept, clock);
    const { metrics: records } = await readRun(logPath);
    expect(records[0]).toMatchObject({ 'env/all/total_episodes': 8, 'env/all/stop/rollout_timeout': 1 });
  });

  it('and batches without a single group are skipped, and the run continues', async () => {
    const { step, logPath } = await train('empty', {
      dataset: crashing((index) => index < 2, crash),
      strategy: { type: 'retry', maxRetries: 0 },
    });
    const { metrics } = await readRun(logPath);
    expect(step).toBe(2);
    expect(metrics[0]).not.toHaveProperty('env/all/total_episodes');
    expect(metrics[1]).toMatchObject({ 'env/all/total_episodes': 8, 'optimizer_step:max': 1, 'rollout_errors/groups_skipped': 2 });
  });

  async function untilSettled<T>(work: Promise<T>, clock: VirtualClock): Promise<T> {
    let isSettled = false;
    const settled = work.finally(() => {
      isSettled = true;
    });
    settled.catch(() => undefined);
    while (!isSettled) {
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      if (!isSettled && clock.nextInMs !== undefined) await clock.advance(clock.nextInMs);
    }
    return settled;
  }
});

describe('limits of a run', () => {
  it('never sample or train beyond the budget', async () => {
    const prices = { train: 1, prefill: 1, sample: 1 };
    const { stopReason, logPath } = await train('budget', { dataset: vowelGroups(8), maxCostUsd: 300e-6, prices });
    const asked = setup.server.calls.filter(({ route }) => route === 'asample').length;
    expect(stopReason).toBe('max_cost');
    expect((await readRun(logPath)).checkpoints.at(-1)?.final).toBe(true);
    // A sample reserves its prompt of 9 tokens and 6 more.
    expect(asked).toBeLessThanOrEqual(300 / 15);
    expect(asked).toBeGreaterThanOrEqual(8);
  });

  it('play a bounded number of episodes at the same time', async () => {
    let [playing, most] = [0, 0];
    const group: EnvGroup = {
      makeEnvs: ({ groupSize }) =>
        Array.from({ length: groupSize }, () => {
          const env = vowelEnv('vowels 1:');
          return {
            initialObservation() {
              most = Math.max(most, ++playing);
              return env.initialObservation();
            },
            step(action) {
              playing--;
              return env.step(action);
            },
          };
        }),
    };
    await train('bounded', { dataset: [group, group], maxConcurrentEpisodes: 3 });
    expect(most).toBe(3);
  });

  it('are refused when they make no sense, by name', async () => {
    const dataset = vowelGroups(2);
    await expect(train('x', { dataset, klPenaltyCoef: 0.1 })).rejects.toThrow('klReference');
    await expect(train('x', { dataset, limits: { maxTurns: 0 } })).rejects.toThrow('maxTurns');
    await expect(train('x', { dataset, groupsPerBatch: 3 })).rejects.toThrow('fewer tasks than a batch');
    await expect(train('x', { dataset, numMinibatches: 3 })).rejects.toThrow('must be a multiple');
    await expect(train('x', { dataset, maxCostUsd: 1 })).rejects.toThrow('prices');
  });
});
