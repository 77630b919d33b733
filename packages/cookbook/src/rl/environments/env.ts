import type { Renderer } from '@tinkex/renderers';
import type { ModelInput, StopReason as SampleStopReason } from '@tinkex/types';
import type { Trajectory } from '../rollouts/trajectory.js';

/** Named numbers of an environment. They are averaged over the turns that have them. */
export type EnvMetrics = Readonly<Record<string, number>>;

/** Texts and numbers to read, not to average. */
export type EnvLogs = Readonly<Record<string, string | number>>;

/** What the model sees next. */
export interface Observation {
  readonly prompt: ModelInput;
  /** What ends the model's action: texts, or token ids. */
  readonly stop: readonly string[] | readonly number[];
}

/** An episode that is over before it begins, for example because its prompt is too long. */
export interface InitialOverflow {
  readonly overflow: { readonly reward: number; readonly metrics?: EnvMetrics | undefined; readonly logs?: EnvLogs | undefined };
}

/** What the model did in one turn. */
export interface Action {
  readonly tokens: Int32Array;
  readonly logprobs: Float32Array;
  /** Whether the model stopped by itself or at the limit of tokens. */
  readonly stopReason: SampleStopReason;
}

/** What came of an action. */
export interface EnvStep {
  readonly reward: number;
  readonly episodeDone: boolean;
  /** What the model sees next. Not needed when the episode is done. */
  readonly next?: Observation | undefined;
  /** A metric `stop/<reason>` of 1 names why the episode is done. */
  readonly metrics?: EnvMetrics | undefined;
  readonly logs?: EnvLogs | undefined;
}

/** One episode. It is used once. Every call may take `envTimeoutSeconds`; after that the rollout has failed. */
export interface Env {
  initialObservation(): Observation | InitialOverflow | Promise<Observation | InitialOverflow>;
  step(action: Action): EnvStep | Promise<EnvStep>;
}

/** What a group makes its episodes of. */
export interface EnvContext {
  readonly renderer: Renderer;
  /** The number of episodes wanted. A group may make another number. */
  readonly groupSize: number;
  /** Aborted when the run stops. */
  readonly signal: AbortSignal;
}

/** What the end of an episode adds to the rewards of its steps. */
export interface GroupReward {
  readonly reward: number;
  readonly metrics?: EnvMetrics | undefined;
}

/** Episodes of the same task, whose rewards are compared with each other. */
export interface EnvGroup {
  /** Called once per rollout of the group, and again for each retry, which uses the first episode. */
  makeEnvs(context: EnvContext): readonly Env[] | Promise<readonly Env[]>;
  /** Rewards that need all episodes, one per trajectory. Default 0. */
  computeGroupRewards?(trajectories: readonly Trajectory[], envs: readonly Env[]): readonly GroupReward[] | Promise<readonly GroupReward[]>;
  /** Called when the group is finished, also when it failed. */
  cleanup?(): void | Promise<void>;
  /** Metrics are also reported per tag, as `env/<tag>/…`. */
  readonly tags?: readonly string[] | undefined;
}
