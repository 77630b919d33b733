import {
  applyKlPenalty,
  assembleData,
  computeAdvantages,
  type Env,
  type EnvGroup,
  klPrePost,
  klSampleTrain,
  type Policy,
  problemEnv,
  type RlDatum,
  type RolloutLimits,
  type RolloutStrategy,
  removeConstantGroups,
  rolloutPreset,
  runRollout,
  type TerminationPolicy,
  trajectoryMetrics,
  trajectoryToData,
} from '@tinkex/cookbook';
import { systemClock } from '@tinkex/http';
import type { Renderer, Termination } from '@tinkex/renderers';
import { datum, ModelInput, type TensorData } from '@tinkex/types';
import { describe, expect, it } from 'vitest';
import { readCookbookVectors } from '../../../vectors/read.js';
import { Semaphore } from '../src/loop/semaphore.js';
import { discountedFutureSum } from '../src/rl/kl.js';
import { splitList } from '../src/rl/loops/prepare-batch.js';
import { RolloutErrors } from '../src/rl/rollouts/rollout-errors.js';
import { rolloutSummaries } from '../src/rl/rollouts/rollout-summaries.js';
import { runGroup } from '../src/rl/rollouts/run-group.js';
import { totalRewards } from '../src/rl/rollouts/trajectory.js';
import { meanByName } from '../src/rl/trajectory-metrics.js';
import {
  expectClose,
  type Failure,
  fakeScorer,
  groupOfRewards,
  type JsonGroup,
  type JsonTrajectory,
  toDatum,
  toGroup,
  toTrajectory,
} from './support/vector-values.js';

/** An example of the vectors, whose mask is one of its loss inputs. */
function toRlDatum(json: unknown): RlDatum {
  const { modelInput, lossFnInputs } = toDatum(json);
  const { mask, ...inputs } = lossFnInputs as Record<string, TensorData>;
  return {
    datum: datum({ modelInput, lossFnInputs: inputs }),
    mask: (mask as TensorData).data as Float32Array,
    origin: { groupIndex: 0, trajectoryIndex: 0 },
  };
}

function plainOf({ datum: { modelInput, lossFnInputs }, mask }: Pick<RlDatum, 'datum' | 'mask'>) {
  const numbers = Object.fromEntries(Object.entries(lossFnInputs).map(([name, tensor]) => [name, tensor?.toNumbers()]));
  return { chunks: modelInput.chunks, ...numbers, mask: Array.from(mask) };
}

describe('advantages', () => {
  interface Case {
    readonly input: { readonly rewards?: number[][]; readonly groups?: JsonGroup[] };
    readonly expected: { readonly advantages: number[][]; readonly keptGroups?: number[] };
  }

  it.each(readCookbookVectors<Case>('advantages'))('%#', ({ input, expected }) => {
    const groups = input.rewards?.map(groupOfRewards) ?? (input.groups ?? []).map((group) => toGroup(group));
    const advantages = computeAdvantages(groups);
    expect(advantages.map((group) => group.length)).toEqual(expected.advantages.map((group) => group.length));
    for (const [index, value] of advantages.flat().entries()) expectClose(value, expected.advantages.flat()[index] as number, 1e-6);
    if (expected.keptGroups !== undefined)
      expect(removeConstantGroups(groups).map((group) => groups.indexOf(group))).toEqual(expected.keptGroups);
  });
});

describe('examples of episodes', () => {
  interface Case {
    readonly name: string;
    readonly input: { readonly trajectory: JsonTrajectory; readonly advantage: number };
    readonly expected: { readonly ok: unknown[] } | Failure;
  }

  it.each(readCookbookVectors<Case>('trajectory-to-data'))('$name', ({ input: { trajectory, advantage }, expected }) => {
    const make = () => trajectoryToData(toTrajectory(trajectory), advantage);
    if ('error' in expected) expect(make).toThrow();
    else expect(make().map(plainOf)).toEqual(expected.ok.map(toRlDatum).map(plainOf));
  });

  interface BatchCase {
    readonly input: { readonly groups: JsonGroup[] };
    readonly expected: { readonly data: unknown[]; readonly metadata: { readonly groupIdx: number; readonly trajIdx: number }[] };
  }

  it.each(readCookbookVectors<BatchCase>('assemble-training-data'))('%# of a batch say where they come from', ({ input, expected }) => {
    const groups = input.groups.map((group) => toGroup(group));
    const data = assembleData(groups, computeAdvantages(groups));
    const wanted = expected.data.map(toRlDatum);
    expect(data.map(({ datum: { modelInput } }) => modelInput.chunks)).toEqual(
      wanted.map(({ datum: { modelInput } }) => modelInput.chunks),
    );
    for (const [index, each] of data.entries()) {
      const [actual, reference] = [plainOf(each), plainOf(wanted[index] as RlDatum)] as unknown as Record<string, number[]>[];
      for (const name of ['targetTokens', 'logprobs', 'advantages', 'mask']) {
        for (const [at, value] of (actual?.[name] ?? []).entries()) expectClose(value, reference?.[name]?.[at] as number, 1e-6);
      }
    }
    expect(data.map(({ origin }) => ({ groupIdx: origin.groupIndex, trajIdx: origin.trajectoryIndex }))).toEqual(expected.metadata);
  });
});

describe('KL', () => {
  interface Case {
    readonly fn: string;
    readonly input: {
      readonly data: unknown[];
      readonly trainingLogprobs: number[][];
      readonly salt: number;
      readonly coef: number;
      readonly discount: number;
      readonly x: number[];
      readonly gamma: number;
    };
    readonly expected: Record<string, number> & { readonly metrics: Record<string, number>; readonly advantages: number[][] };
  }
  const cases = readCookbookVectors<Case>('kl');
  const of = (fn: string) => cases.filter((each) => each.fn === fn);
  const expectMetrics = (actual: Readonly<Record<string, number>>, expected: Record<string, number>) => {
    expect(Object.keys(actual)).toEqual(Object.keys(expected));
    for (const [name, value] of Object.entries(expected)) expectClose(actual[name] as number, value, 1e-5);
  };

  it.each(of('kl_sample_train'))('%# between sampling and training', ({ input, expected }) => {
    expectMetrics(klSampleTrain(input.data.map(toRlDatum), input.trainingLogprobs), expected);
  });

  it.each(of('post_kl'))('%# between before and after', async ({ input, expected }) => {
    expectMetrics(await klPrePost(input.data.map(toRlDatum), fakeScorer(input.salt)), expected);
  });

  it.each(of('kl_penalty'))('%# as a penalty', async ({ input: { data: json, salt, coef, discount }, expected }) => {
    const data = json.map(toRlDatum);
    const scorer = fakeScorer(salt);
    const reference = await Promise.all(
      data.map(async ({ datum: { modelInput, lossFnInputs } }) => {
        const last = lossFnInputs.targetTokens?.toNumbers().at(-1) as number;
        return ((await scorer.computeLogprobs(modelInput.appendInt(last))) as Float32Array).subarray(1);
      }),
    );
    const { data: penalized, meanKl } = applyKlPenalty(data, reference, { coefficient: coef, discount });
    expectMetrics({ kl_policy_base: meanKl }, expected.metrics);
    for (const [
      index,
      {
        mask,
        datum: { lossFnInputs },
      },
    ] of penalized.entries()) {
      for (const [at, value] of (lossFnInputs.advantages?.toNumbers() ?? []).entries()) {
        // The reference leaks the discounted sum onto prompt tokens; ours are 0 there.
        if (mask[at] === 0) expect(value).toBe(0);
        else expectClose(value, expected.advantages[index]?.[at] as number, 1e-5);
      }
    }
  });

  it('penalty with a discount leaves prompt tokens alone (the reference trains on them)', () => {
    const prompt = [
      {
        datum: datum({
          modelInput: ModelInput.fromInts([1, 2, 3]),
          lossFnInputs: { targetTokens: [2, 3, 4], logprobs: [0, 0, -1], advantages: [0, 0, 0.5] },
        }),
        mask: Float32Array.of(0, 0, 1),
        origin: { groupIndex: 0, trajectoryIndex: 0 },
      },
    ];
    const { data } = applyKlPenalty(prompt, [[-9, -9, -3]], { coefficient: 1, discount: 0.9, isCentered: false });
    expect(data[0]?.datum.lossFnInputs.advantages?.toNumbers()).toEqual([0, 0, -1.5]);
  });

  it.each(of('discounted_future_sum'))('%# discounted sums', ({ input: { x, gamma }, expected }) => {
    const wanted = expected as unknown as number[];
    for (const [index, value] of discountedFutureSum(x, gamma).entries()) expectClose(value, wanted[index] as number, 1e-5);
  });
});

describe('metrics of episodes', () => {
  interface Case {
    readonly name: string;
    readonly input: { readonly groups: JsonGroup[]; readonly tags: string[][] };
    readonly expected: Record<string, number>;
  }

  it.each(readCookbookVectors<Case>('trajectory-metrics'))('$name', ({ input: { groups, tags }, expected }) => {
    const metrics = trajectoryMetrics(groups.map((group, index) => toGroup(group, tags[index])));
    expect(Object.keys(metrics).toSorted()).toEqual(Object.keys(expected).toSorted());
    for (const [name, value] of Object.entries(expected)) expectClose(metrics[name] as number, value, 1e-9);
  });

  it('are under the right tags after constant groups are removed (the reference shifts them)', () => {
    const tagged = (tag: string, rewards: number[]) => ({ ...groupOfRewards(rewards), tags: [tag] });
    const groups = removeConstantGroups([tagged('const', [1, 1]), tagged('v1', [0, 1]), tagged('v2', [0, 3])]);
    expect(trajectoryMetrics(groups)).toMatchObject({ 'env/v1/reward/total': 0.5, 'env/v2/reward/total': 1.5 });
    expect(trajectoryMetrics(groups)).not.toHaveProperty('env/const/reward/total');
  });

  interface SummaryCase {
    readonly input: {
      readonly split: string;
      readonly iteration: number;
      readonly groups: JsonGroup[];
      readonly tags: string[][];
      readonly samplingClientSteps: number[];
    };
    readonly expected: unknown[];
  }

  it.each(readCookbookVectors<SummaryCase>('rollout-summaries'))('%# in lines of a file', ({ input, expected }) => {
    const groups = input.groups.map((group, index) => toGroup(group, input.tags[index], input.samplingClientSteps[index]));
    expect(rolloutSummaries(groups, input)).toEqual(expected);
  });

  interface SmallCase {
    readonly fn: string;
    readonly input: { readonly n: number; readonly parts: number } & Record<string, number>[];
    readonly expected: unknown;
  }
  const small = readCookbookVectors<SmallCase>('small-functions');

  it.each(small.filter(({ fn }) => fn === 'split_list'))('%# a list is cut evenly', ({ input: { n, parts }, expected }) => {
    const cut = () =>
      splitList(
        Array.from({ length: n }, (_, index) => index),
        parts,
      );
    if ('error' in (expected as object)) expect(cut).toThrow(RangeError);
    else expect(cut()).toEqual(expected);
  });

  it.each(small.filter(({ fn }) => fn === 'dict_mean'))('%# are averaged by name', ({ input, expected }) => {
    expect(meanByName(input)).toEqual(expected);
  });
});

/** The scripted environment of the vectors: `turns` turns, `grow` tokens after each action. */
function scriptedEnv({
  turns,
  prompt = 3,
  grow = 2,
  r = 0.25,
  stop,
}: {
  turns: number;
  prompt?: number;
  grow?: number;
  r?: number;
  stop?: string;
}): Env {
  let tokens = new Array<number>(prompt).fill(1);
  let step = 0;
  const observation = () => ({ prompt: ModelInput.fromInts(tokens), stop: [] });
  return {
    initialObservation: observation,
    step(action) {
      step++;
      tokens = [...tokens, ...action.tokens, ...new Array<number>(grow).fill(7)];
      const episodeDone = step >= turns;
      const reason = episodeDone && stop !== undefined ? { [`stop/${stop}`]: 1 } : {};
      return { reward: r, episodeDone, next: observation(), metrics: { k: step, ...reason } };
    },
  };
}

const LIMIT_NAMES: Record<string, keyof RolloutLimits> = {
  max_turns: 'maxTurns',
  max_trajectory_tokens: 'maxTrajectoryTokens',
  max_sampled_tokens: 'maxSampledTokens',
  max_turn_tokens: 'maxTurnTokens',
  max_tool_calls: 'maxToolCalls',
};
const toLimits = (json: Record<string, number | null> | null): RolloutLimits =>
  Object.fromEntries(
    Object.entries(json ?? {}).flatMap(([name, value]) =>
      value === null || LIMIT_NAMES[name] === undefined ? [] : [[LIMIT_NAMES[name], value]],
    ),
  );

describe('limits of a rollout', () => {
  interface Case {
    readonly name: string;
    readonly input: {
      readonly actionLengths: number[];
      readonly env?: { turns: number; prompt?: number; grow?: number };
      readonly limits: Record<string, number> | null;
    };
    readonly expected:
      | Failure
      | {
          readonly trajectory: {
            readonly transitions: { readonly ob: number[] }[];
            readonly finalOb: number[];
            readonly stopReason: string | null;
          };
          readonly maxTokensAsked: (number | null)[];
        };
  }

  it.each(readCookbookVectors<Case>('rollout-limits'))('$name', async ({ input: { actionLengths, env, limits }, expected }) => {
    const asked: (number | null)[] = [];
    const policy: Policy = async (_, { maxTokens }) => {
      const turn = asked.push(maxTokens ?? null) - 1;
      const length = actionLengths[turn % actionLengths.length] as number;
      const tokens = new Int32Array(Math.min(length, maxTokens ?? length)).fill(100 + turn);
      return { tokens, logprobs: new Float32Array(tokens.length), stopReason: tokens.length < length ? 'length' : 'stop' };
    };
    const run = async () => runRollout(scriptedEnv(env ?? { turns: 1 }), { policy, limits: toLimits(limits), clock: systemClock });
    if ('error' in expected) {
      await expect(run()).rejects.toThrow('maxTurns');
      return;
    }
    const { transitions, finalObservation, stopReason } = await run();
    expect({
      transitions: transitions.map(({ observation, action, reward, episodeDone, metrics, logs }) => ({
        ob: Array.from(observation.toInts()),
        tokens: Array.from(action.tokens),
        reward,
        episodeDone,
        metrics,
        logs,
      })),
      finalOb: Array.from(finalObservation.toInts()),
      stopReason: stopReason ?? null,
    }).toEqual(expected.trajectory);
    expect(asked).toEqual(expected.maxTokensAsked);
  });
});

describe('groups', () => {
  interface Case {
    readonly fn: string;
    readonly name: string;
    readonly input: {
      readonly envs: { turns: number; r?: number; stop?: string }[];
      readonly finals: number[];
      readonly termination: { zero_reward_on_limit: boolean; limit_stop_reasons?: TerminationPolicy['limitStopReasons'] } | null;
      readonly limits: Record<string, number>;
      readonly strategy: { readonly type: 'FailFast' | 'RetryOnFailure' | 'MinViableGroup'; readonly maxRetries?: number };
      readonly failingCalls: number[];
      readonly groupSize: number;
      readonly errors: string[];
      readonly skippedGroups: number;
    };
    readonly expected: {
      readonly stopReasons: string[];
      readonly finalRewards: number[];
      readonly metrics: unknown;
      readonly totals: number[];
      readonly cleaned: number;
      readonly ok?: { readonly survivors: number; readonly errors: string[][] };
      readonly error?: string;
      readonly makeEnvsCalls: number;
      readonly catchesGroupErrors: boolean;
      readonly before: unknown;
    };
  }
  const cases = readCookbookVectors<Case>('rollout-groups');
  const of = (fn: string) => cases.filter((each) => each.fn === fn);
  const act: Policy = async () => ({ tokens: Int32Array.of(5), logprobs: Float32Array.of(-1), stopReason: 'stop' });
  const options = {
    clock: systemClock,
    episodes: new Semaphore(100),
    context: { renderer: {} as Renderer, groupSize: 4, signal: new AbortController().signal },
  };

  it.each(of('termination'))('$name', async ({ input: { envs, finals, termination, limits }, expected }) => {
    let cleaned = 0;
    const group: EnvGroup = {
      makeEnvs: () => envs.map(scriptedEnv),
      computeGroupRewards: () => finals.map((reward) => ({ reward, metrics: { final: 1 } })),
      cleanup: () => void cleaned++,
    };
    const policy = termination && { zeroRewardOnLimit: termination.zero_reward_on_limit, limitStopReasons: termination.limit_stop_reasons };
    const outcome = await runGroup(group, { ...options, policy: act, limits: toLimits(limits), termination: policy ?? undefined });
    if (!('trajectories' in outcome)) throw new Error('the group failed');
    expect(outcome.trajectories.map(({ stopReason }) => stopReason)).toEqual(expected.stopReasons);
    expect(outcome.finalRewards).toEqual(expected.finalRewards);
    expect(outcome.finalMetrics).toEqual(expected.metrics);
    expect(totalRewards(outcome)).toEqual(expected.totals);
    expect(cleaned).toBe(expected.cleaned);
  });

  const STRATEGIES: Record<Case['input']['strategy']['type'], (maxRetries?: number) => RolloutStrategy> = {
    FailFast: () => 'fail-fast',
    RetryOnFailure: (maxRetries) => ({ type: 'retry', maxRetries }),
    MinViableGroup: (maxRetries) => ({ type: 'min-viable', maxRetries }),
  };

  it.each(of('strategy'))('$name', async ({ input: { strategy, failingCalls, groupSize }, expected }) => {
    let [calls, makeEnvsCalls, cleaned] = [0, 0, 0];
    const group: EnvGroup = {
      makeEnvs: () => {
        makeEnvsCalls++;
        return Array.from({ length: groupSize }, () => scriptedEnv({ turns: 1 }));
      },
      cleanup: () => void cleaned++,
    };
    const policy: Policy = async (observation, turn) => {
      const call = calls++;
      if (failingCalls.includes(call)) throw new Error(`boom ${call}`);
      return act(observation, turn);
    };
    const run = runGroup(group, { ...options, policy, strategy: STRATEGIES[strategy.type](strategy.maxRetries) });
    if (!expected.catchesGroupErrors) await expect(run).rejects.toThrow('boom');
    else {
      const outcome = await run;
      const messages = outcome.errors.map((error) => (error as Error).message);
      if (expected.ok === undefined) expect(outcome).not.toHaveProperty('trajectories');
      else expect(outcome).toMatchObject({ trajectories: { length: expected.ok.survivors } });
      if (expected.ok !== undefined) expect(messages).toEqual(expected.ok.errors.map(([, message]) => message));
    }
    expect([makeEnvsCalls, cleaned]).toEqual([expected.makeEnvsCalls, 1]);
  });

  it.each(of('error_counter'))('%# failures are counted by class', ({ input: { errors, skippedGroups }, expected }) => {
    const counter = new RolloutErrors();
    expect(counter.metrics()).toEqual(expected.before);
    for (const name of errors) counter.add([Object.assign(new Error('x'), { name })]);
    for (let index = 0; index < skippedGroups; index++) counter.add([], { isSkipped: true });
    expect(counter.metrics()).toEqual(expected.metrics);
    expect(new RolloutErrors(counter.metrics()).metrics()).toEqual(expected.metrics);
  });
});

describe('presets', () => {
  interface Case {
    readonly input: string;
    readonly expected: {
      readonly strategy: string;
      readonly config: {
        readonly limits: Record<string, number | null>;
        readonly parseErrors: Record<string, unknown> | null;
        readonly termination: Record<string, unknown> | null;
        readonly toolExecution: string;
      };
    };
  }

  it.each(readCookbookVectors<Case>('rollout-presets'))('of $input', ({ input, expected: { config, strategy } }) => {
    const preset = rolloutPreset(input);
    expect(preset.limits).toEqual(toLimits(config.limits));
    expect(preset.toolExecution).toBe(config.toolExecution);
    expect(preset.strategy).toEqual(strategy === 'FailFast' ? 'fail-fast' : { type: 'min-viable' });
    expect(preset.parseErrors?.maxConsecutive).toBe(config.parseErrors?.max_consecutive);
    expect(preset.termination?.zeroRewardOnLimit).toBe(config.termination?.zero_reward_on_limit);
    expect(preset.termination?.limitStopReasons).toEqual(config.termination?.limit_stop_reasons);
    expect(preset.termination?.graderTimeoutSeconds).toBe(config.termination?.grader_timeout_seconds);
    expect(preset.passAllMessagesToGrader).toBe(config.termination?.pass_all_messages_to_grader ?? true);
  });
});

describe('problems', () => {
  interface Case {
    readonly input: {
      readonly termination: Termination;
      readonly answerCorrect: boolean;
      readonly formatCorrect: boolean;
      readonly formatCoef: number;
      readonly requireStopSequence: boolean;
    };
    readonly expected: { readonly reward: number; readonly metrics: Record<string, number>; readonly done: boolean };
  }

  it.each(readCookbookVectors<Case>('problem-env'))('%#', async ({ input, expected }) => {
    const renderer = {
      parseResponse: () => ({ message: { role: 'assistant', content: 'x' }, termination: input.termination }),
    } as unknown as Renderer;
    const { formatCoef: formatCoefficient, requireStopSequence } = input;
    const env = problemEnv(
      { question: 'q', grade: () => input.answerCorrect, checkFormat: () => input.formatCorrect, formatCoefficient, requireStopSequence },
      renderer,
    );
    const step = await env.step({ tokens: new Int32Array(), logprobs: new Float32Array(), stopReason: 'stop' });
    expectClose(step.reward, expected.reward, 1e-12);
    expect([step.metrics, step.episodeDone]).toEqual([expected.metrics, expected.done]);
  });
});
