import { join } from 'node:path';
import { type Evaluator, type SupervisedConfig, trainSupervised } from '@tinkex/cookbook';
import { monotonicTime, systemClock } from '@tinkex/http';
import { readRun } from '@tinkex/telemetry/runs';
import { describe, expect, it } from 'vitest';
import { recordedData, recordedSft } from './support/recorded-sft.js';
import { rig } from './support/rig.js';

const setup = rig();
const recorded = recordedSft('sft');
const SETTINGS = { model: 'tinkex/tiny', learningRate: 0.02, loraRank: 8, numEpochs: 2, evalEvery: 0 } as const;

function train(options: Partial<SupervisedConfig>) {
  const { train: batches } = recordedData(recorded);
  return trainSupervised({
    ...SETTINGS,
    service: setup.connect(),
    data: { train: batches },
    logPath: join(setup.folder, 'run'),
    ...options,
  });
}

/** A clock that moves only when the test says so. */
function steppedClock() {
  let nowMs = 1_000;
  return {
    clock: { ...systemClock, monotonicMs: () => monotonicTime(nowMs) },
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

const passes = () => setup.server.calls.filter(({ route }) => route === 'forwardBackward').length;

describe('a run stops', () => {
  it('before the step that would exceed maxTokens', async () => {
    // 25, 26 and 27 tokens; the fourth batch has 26.
    const run = await train({ maxTokens: 103 });
    expect(run).toMatchObject({ stopReason: 'max_tokens', step: 3, tokens: 78 });
    expect(passes()).toBe(3);
    expect(await train({ maxTokens: 104 })).toMatchObject({ stopReason: 'max_tokens', step: 4, tokens: 104 });
  });

  it('before the step that would exceed maxCostUsd, evaluations included', async () => {
    const prices = { train: 1_000, prefill: 100, sample: 100 };
    const usage = { prefillTokens: 90, sampledTokens: 10 };
    const evaluators: Evaluator[] = [{ kind: 'training', usage, evaluate: async () => ({}) }];
    // 0.01 for the evaluation at step 0; 0.025 + 0.026 for two steps. The third would need 0.027 more.
    const run = await train({ maxCostUsd: 0.087, prices, evaluators, evalEvery: 100 });
    expect(run).toMatchObject({ stopReason: 'max_cost', step: 2 });
    expect(passes()).toBe(2);
  });

  it('by money that a killed process has spent, too', async () => {
    const prices = { train: 1_000 };
    const kill = { onStep: (step: number) => (step === 1 ? fail() : undefined), saveEvery: 0 };
    await expect(train({ maxCostUsd: 0.16, prices, ...kill, submitAhead: 0 })).rejects.toThrow('killed');
    // 0.051 are spent and lost; 0.025 + 0.026 + 0.027 + 0.026 = 0.104 fit in the rest.
    expect(await train({ maxCostUsd: 0.16, prices })).toMatchObject({ stopReason: 'max_cost', step: 4 });
  });

  it('after maxSeconds', async () => {
    const { clock, advance } = steppedClock();
    const run = await train({ maxSeconds: 10, clock, submitAhead: 0, onStep: () => advance(4_000) });
    expect(run).toMatchObject({ stopReason: 'max_seconds', step: 3 });
  });

  it('and saves by time and by tokens on the way', async () => {
    const { clock, advance } = steppedClock();
    const onStep = (step: number) => advance(step < 3 ? 6_000 : 0);
    await train({ saveEvery: 0, saveEverySeconds: 10, saveEveryTokens: 100, clock, submitAhead: 0, onStep });
    const { checkpoints } = await readRun(join(setup.folder, 'run'));
    // 12 s after two steps; 100 tokens after four more.
    expect(checkpoints.map(({ name }) => name)).toEqual(['000003', '000007', 'final']);
  });

  function fail(): never {
    throw new Error('killed');
  }
});

describe('a configuration is refused before anything is sent', () => {
  const evaluator: Evaluator = { kind: 'training', evaluate: async () => ({}) };

  it.each<[Partial<SupervisedConfig>, string]>([
    [{ maxCostUsd: 5 }, 'maxCostUsd needs prices'],
    [{ maxCostUsd: 0, prices: { train: 1 } }, 'maxCostUsd must be above 0'],
    [{ batchSize: 2, batchTokens: 5 }, 'either batchSize or batchTokens'],
    [{ numEpochs: 0 }, 'numEpochs must be a whole number from 1 up'],
    [{ saveEvery: -1 }, 'saveEvery must be a whole number from 0 up'],
    [{ maxSeconds: 0 }, 'maxSeconds must be above 0'],
    [{ learningRate: -1 }, 'learningRate must be above 0'],
    [{ learningRate: 'auto' }, 'No learning rate is known for "tinkex/tiny"'],
    [{ learningRate: 'auto', model: 'openai/gpt-oss-20b' }, 'has not been calibrated'],
  ])('%j', async (options, message) => {
    await expect(train(options)).rejects.toThrow(message);
    expect(setup.server.calls).toEqual([]);
  });

  it('an evaluator without usage, when money is limited', async () => {
    const limited = { maxCostUsd: 1, prices: { train: 1 }, evaluators: [evaluator] };
    await expect(train(limited)).rejects.toThrow('maxCostUsd needs the usage of each evaluator');
    expect(passes()).toBe(0);
  });

  it('data with less than a batch', async () => {
    const data = { train: { batchCount: () => 0, getBatch: () => [] } };
    await expect(train({ data })).rejects.toThrow('fewer examples than a batch');
  });
});

describe('metrics of a step', () => {
  it('are written as valid JSON when they are not finite, and have time/total (the reference lacks it)', async () => {
    const evaluators: Evaluator[] = [{ kind: 'training', evaluate: async () => ({ odd: Number.NaN }) }];
    await train({ maxSteps: 1, evaluators, evalEvery: 1 });
    const { metrics } = await readRun(join(setup.folder, 'run'));
    expect(metrics[0]).toMatchObject({ odd: null, 'time/total': expect.any(Number) });
  });

  it('reach the sinks, and sinks are closed when the run fails', async () => {
    const seen: unknown[] = [];
    const sink = {
      logConfig: () => void seen.push('config'),
      logMetrics: (_: object, step: number) => void seen.push(step),
      close: () => void seen.push('closed'),
    };
    await train({ maxSteps: 2, sinks: [sink] });
    expect(seen).toEqual(['config', 0, 1, 'closed']);
    seen.length = 0;
    const failing = train({
      logPath: join(setup.folder, 'other'),
      sinks: [sink],
      evalEvery: 1,
      evaluators: [{ kind: 'sampling', evaluate: () => Promise.reject(new Error('no')) }],
    });
    await expect(failing).rejects.toThrow('no');
    expect(seen).toEqual(['config', 'closed']);
  });

  it.each([0, 1, 3])('are awaited only when more than %i further steps are submitted', async (submitAhead) => {
    let finished = 0;
    const seen: number[] = [];
    const data = recordedData(recorded, () => seen.push(finished));
    await train({ submitAhead, data: { train: data.train }, onStep: () => finished++ });
    // How many steps are finished when the batch of each step is fetched.
    expect(seen).toEqual(Array.from({ length: 8 }, (_, step) => Math.max(0, step - submitAhead)));
  });
});
