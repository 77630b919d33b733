import type { Action, Trajectory, TrajectoryGroup, Transition } from '@tinkex/cookbook';
import { type Datum, ModelInput as Input, type ModelInput } from '@tinkex/types';
import { datumCodec } from '@tinkex/types/wire';
import { expect } from 'vitest';

/** Where the reference refuses. */
export interface Failure {
  readonly error: string;
}

interface JsonInput {
  readonly chunks: readonly unknown[];
}

/** A trajectory as the vectors have it. */
export interface JsonTrajectory {
  readonly transitions: readonly {
    readonly ob: JsonInput;
    readonly tokens: number[];
    readonly logprobs: number[];
    readonly reward: number;
    readonly episodeDone: boolean;
    readonly metrics: Record<string, number>;
    readonly logs: Record<string, string>;
  }[];
  readonly finalOb: JsonInput;
}

/** A group as the vectors have it. */
export interface JsonGroup {
  readonly trajectories: readonly JsonTrajectory[];
  readonly finalRewards: number[];
  readonly metrics: Record<string, number>[];
}

export function toDatum(json: unknown): Datum {
  return datumCodec.decode(json as never) as Datum;
}

export function toInput(json: JsonInput): ModelInput {
  return json.chunks.length === 0 ? Input.empty() : toDatum({ model_input: json, loss_fn_inputs: {} }).modelInput;
}

export function toTrajectory({ transitions, finalOb }: JsonTrajectory): Trajectory {
  return { transitions: transitions.map(toTransition), finalObservation: toInput(finalOb) };
}

function toTransition({ ob, tokens, logprobs, ...rest }: JsonTrajectory['transitions'][number]): Transition {
  const action: Action = { tokens: Int32Array.from(tokens), logprobs: Float32Array.from(logprobs), stopReason: 'stop' };
  return { ...rest, observation: toInput(ob), action };
}

export function toGroup(
  { trajectories, finalRewards, metrics }: JsonGroup,
  tags: readonly string[] = [],
  samplerStep = 0,
): TrajectoryGroup {
  return { trajectories: trajectories.map(toTrajectory), finalRewards, finalMetrics: metrics, errors: [], tags, samplerStep };
}

/** One trajectory per reward, of one turn. */
export function groupOfRewards(rewards: readonly number[]): TrajectoryGroup {
  const action: Action = { tokens: Int32Array.of(2), logprobs: Float32Array.of(-1), stopReason: 'stop' };
  const trajectories = rewards.map((reward) => ({
    transitions: [{ observation: Input.fromInts([1]), action, reward, episodeDone: true, metrics: {}, logs: {} }],
    finalObservation: Input.empty(),
  }));
  return { trajectories, finalRewards: rewards.map(() => 0), finalMetrics: rewards.map(() => ({})), errors: [], tags: [], samplerStep: 0 };
}

export function expectClose(actual: number, expected: number, tolerance: number): void {
  expect(Math.abs(actual - expected) / Math.max(1, Math.abs(expected)), `${actual} is not ${expected}`).toBeLessThanOrEqual(tolerance);
}

/** The rule by which fake samplers of the vectors score tokens. */
export function fakeScorer(salt: number, asked: number[][] = []) {
  return {
    computeLogprobs(prompt: ModelInput) {
      const tokens = prompt.chunks.flatMap((chunk) =>
        chunk.type === 'encoded_text'
          ? Array.from(chunk.tokens)
          : new Array<number>(chunk.type === 'image' ? (chunk.expectedTokens ?? 0) : 0).fill(0),
      );
      asked.push(tokens);
      return Promise.resolve(
        Float32Array.from(tokens, (token, i) => (i === 0 ? Number.NaN : -(((token * 7 + i * 13 + salt * 5) % 31) + 1) / 16)),
      ) as never;
    },
  };
}
