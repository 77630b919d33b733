import { encodedText, type ModelInput, ValidationError } from '@tinkex/types';
import type { Trajectory, TrajectoryGroup, Transition } from './rollouts/trajectory.js';

/** One call of an agent with the tokens that were really sampled: a captured exchange of `@tinkex/gateway`. */
export interface CapturedTurn {
  readonly id: string;
  /** Which calls belong together. */
  readonly episode?: string | undefined;
  readonly prompt: ModelInput;
  readonly choices: readonly {
    readonly tokens: Int32Array;
    readonly logprobs?: Float32Array | undefined;
    readonly finishReason: string;
  }[];
}

/** Options of {@link trajectoriesFromCapture}. */
export interface CaptureOptions {
  /** What an episode earned. Undefined leaves it out, for example because the agent failed. */
  readonly rewardOf: (episode: string) => number | undefined;
  /** The task of an episode. Episodes of the same task are compared with each other. Default: all belong to one task. */
  readonly taskOf?: ((episode: string) => string) | undefined;
  /** How many training steps the weights had taken that were sampled from. Default 0. */
  readonly samplerStep?: number | undefined;
}

/**
 * Makes what an agent did through the gateway into episodes to train on: the calls of an episode are its turns, in the order they were captured. `assembleData` and
 * `computeAdvantages` make examples of them, as in `trainRl`.
 *
 * @throws ValidationError for a call without an episode, with several choices, or without log-probabilities.
 *
 * @example
 * ```ts
 * import { assembleData, type CapturedTurn, computeAdvantages, trajectoriesFromCapture } from '@tinkex/cookbook';
 *
 * export function examplesOf(captured: readonly CapturedTurn[], rewards: ReadonlyMap<string, number>) {
 *   const groups = trajectoriesFromCapture(captured, { rewardOf: (episode) => rewards.get(episode) });
 *   return assembleData(groups, computeAdvantages(groups)).map(({ datum }) => datum);
 * }
 * ```
 */
export function trajectoriesFromCapture(turns: readonly CapturedTurn[], options: CaptureOptions): TrajectoryGroup[] {
  const { rewardOf, taskOf = () => '', samplerStep = 0 } = options;
  const episodes = new Map<string, CapturedTurn[]>();
  for (const turn of turns) append(episodes, episodeOf(turn), turn);
  const tasks = new Map<string, { readonly trajectory: Trajectory; readonly reward: number }[]>();
  for (const [episode, played] of episodes) {
    const reward = rewardOf(episode);
    if (reward !== undefined) append(tasks, taskOf(episode), { trajectory: trajectoryOf(played), reward });
  }
  return [...tasks.values()].map((played) => ({
    trajectories: played.map(({ trajectory }) => trajectory),
    finalRewards: played.map(({ reward }) => reward),
    finalMetrics: played.map(() => ({})),
    errors: [],
    tags: [],
    samplerStep,
  }));
}

function append<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

function trajectoryOf(turns: readonly CapturedTurn[]): Trajectory {
  const transitions = turns.map((turn, index) => transitionOf(turn, index === turns.length - 1));
  const { observation, action } = transitions.at(-1) as Transition;
  return { transitions, finalObservation: observation.append(encodedText(action.tokens)), stopReason: 'completed' };
}

function transitionOf(turn: CapturedTurn, episodeDone: boolean): Transition {
  const [choice, ...others] = turn.choices;
  if (choice === undefined || others.length > 0) {
    refuse(turn, 'choices', `must be one answer, not ${turn.choices.length}: which of them the agent used is not known. Ask with n: 1.`);
  }
  const { tokens, logprobs, finishReason } = choice;
  if (logprobs === undefined) refuse(turn, 'logprobs', 'are missing. Sample from a server that gives log-probabilities.');
  const action = { tokens, logprobs, stopReason: finishReason === 'length' ? ('length' as const) : ('stop' as const) };
  return { observation: turn.prompt, action, reward: 0, episodeDone, metrics: {}, logs: {} };
}

function episodeOf(turn: CapturedTurn): string {
  return turn.episode ?? refuse(turn, 'episode', 'is missing. Send the header x-tinkex-episode with each call of the agent.');
}

function refuse({ id }: CapturedTurn, path: string, message: string): never {
  throw new ValidationError({ direction: 'request', subject: `captured call ${id}`, issues: [{ path, message }] });
}
