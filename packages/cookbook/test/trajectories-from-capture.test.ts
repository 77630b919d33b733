import { assembleData, type CapturedTurn, computeAdvantages, trajectoriesFromCapture } from '@tinkex/cookbook';
import { ModelInput, ValidationError } from '@tinkex/types';
import { describe, expect, it } from 'vitest';

/** A captured call: what the model read and what it said, each token with the logprob -token / 10. */
function turn(episode: string | undefined, prompt: readonly number[], said: readonly number[]): CapturedTurn {
  const choice = { tokens: Int32Array.from(said), logprobs: Float32Array.from(said, (token) => -token / 10), finishReason: 'stop' };
  return { id: `call-${episode}`, episode, prompt: ModelInput.fromInts(prompt), choices: [choice] };
}

const TURNS = [
  turn('a/1', [1, 2], [3]),
  turn('b/1', [7], [8]),
  turn('a/2', [1, 2], [4]),
  turn('a/1', [1, 2, 3, 5], [6]),
  turn('b/2', [7], [9]),
  turn('a/2', [1, 5], [6]),
];
const REWARDS = new Map([
  ['a/1', 1],
  ['a/2', 0],
  ['b/1', 0.5],
]);
const options = { rewardOf: (episode: string) => REWARDS.get(episode), taskOf: (episode: string) => episode.slice(0, 1) };

describe('trajectoriesFromCapture', () => {
  it('gives episodes by task, in the order of their calls, without those that earned nothing', () => {
    const groups = trajectoriesFromCapture(TURNS, { ...options, samplerStep: 4 });
    expect(groups.map(({ finalRewards, samplerStep }) => [finalRewards, samplerStep])).toEqual([
      [[1, 0], 4],
      [[0.5], 4],
    ]);
    const [first] = groups[0]?.trajectories ?? [];
    expect(first?.transitions.map(({ action, episodeDone }) => [Array.from(action.tokens), episodeDone])).toEqual([
      [[3], false],
      [[6], true],
    ]);
    expect(Array.from(first?.finalObservation.toInts() ?? [])).toEqual([1, 2, 3, 5, 6]);
  });

  it('gives examples: one for turns that continue each other, one per turn where the agent rewrote what came before', () => {
    const groups = trajectoriesFromCapture(TURNS, options);
    const data = assembleData(groups, computeAdvantages(groups));
    expect(data.map(({ datum, mask }) => [Array.from(datum.modelInput.toInts()), Array.from(mask)])).toEqual([
      [
        [1, 2, 3, 5],
        [0, 1, 0, 1],
      ],
      [
        [1, 2],
        [0, 1],
      ],
      [
        [1, 5],
        [0, 1],
      ],
      [[7], [1]],
    ]);
    expect(data.map(({ datum }) => Array.from(datum.lossFnInputs.advantages?.data as Float32Array))).toEqual([
      [0, 0.5, 0, 0.5],
      [0, -0.5],
      [0, -0.5],
      [0],
    ]);
    expect(Array.from(data[3]?.datum.lossFnInputs.logprobs?.data as Float32Array)[0]).toBeCloseTo(-0.8);
  });

  it('refuses calls that it cannot place or train on, and says what to do', () => {
    const [choice] = turn('a', [1], [2]).choices;
    const refused = (broken: Partial<CapturedTurn>) => () =>
      trajectoriesFromCapture([{ ...turn('a', [1], [2]), ...broken }], { rewardOf: () => 1 });
    expect(refused({ episode: undefined })).toThrow('x-tinkex-episode');
    expect(refused({ choices: [choice!, choice!] })).toThrow(/not 2.*n: 1/);
    expect(refused({ choices: [{ ...choice!, logprobs: undefined }] })).toThrow(ValidationError);
  });
});
