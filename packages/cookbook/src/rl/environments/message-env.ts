import { classifyParseFailure, type Message, type Renderer } from '@tinkex/renderers';
import { stopMetric } from '../rollouts/stop-reason.js';
import type { Trajectory } from '../rollouts/trajectory.js';
import type { Action, Env, EnvContext, EnvGroup, EnvLogs, EnvMetrics, EnvStep, GroupReward, InitialOverflow, Observation } from './env.js';
import type { ParseErrorPolicy } from './parse-error-policy.js';

/** What came of a message. */
export interface MessageStep {
  readonly reward: number;
  readonly episodeDone: boolean;
  /** The whole conversation that the model continues. */
  readonly messages: readonly Message[];
  readonly metrics?: EnvMetrics | undefined;
  readonly logs?: EnvLogs | undefined;
}

/** One episode in messages instead of tokens. */
export interface MessageEnv {
  /** The conversation that the model continues first. */
  initialMessages(): readonly Message[] | Promise<readonly Message[]>;
  /** Takes the model's message. */
  step(message: Message): MessageStep | Promise<MessageStep>;
  /** Takes a message that was cut at the limit of tokens. Without it, such a message ends the episode. */
  stepTruncated?(message: Message): MessageStep | Promise<MessageStep>;
}

/** How messages become tokens and rewards. */
export interface MessageEnvOptions {
  /** The reward of a message that cannot be read, which ends the episode. Default -1. */
  readonly failedParseReward?: number | undefined;
  /** Replaces `failedParseReward` by rules. */
  readonly parseErrors?: ParseErrorPolicy | undefined;
  /** The reward when the conversation has become too long, which ends the episode. Default -0.1. */
  readonly contextOverflowReward?: number | undefined;
  /** The reward of a message that was cut, which ends the episode. Default -0.1. */
  readonly lengthReward?: number | undefined;
  /** Whether a message that was cut ends the episode even if the environment could take it. Default true. */
  readonly terminateOnLength?: boolean | undefined;
  /** The most tokens of a conversation with the message that follows. Default: no limit. */
  readonly maxTrajectoryTokens?: number | undefined;
  /** How many of them are kept free for the message that follows. Default 0. */
  readonly maxGenerationTokens?: number | undefined;
}

const DEFAULT_FAILED_PARSE_REWARD = -1;
const DEFAULT_OVERFLOW_REWARD = -0.1;
const DEFAULT_LENGTH_REWARD = -0.1;

/** An environment in messages as one in tokens. */
export function messageEnv(env: MessageEnv, renderer: Renderer, options: MessageEnvOptions = {}): Env {
  return new RenderedEnv(env, renderer, options);
}

/** Options of {@link messageEnvGroup}. */
export interface MessageEnvGroupOptions extends MessageEnvOptions {
  /** Makes one episode. Called `groupSize` times. */
  readonly makeEnv: (context: EnvContext) => MessageEnv | Promise<MessageEnv>;
  /** Rewards that need all episodes, one per trajectory. */
  readonly computeGroupRewards?:
    | ((trajectories: readonly Trajectory[]) => readonly GroupReward[] | Promise<readonly GroupReward[]>)
    | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** A group of multi-turn episodes that start the same way. */
export function messageEnvGroup({ makeEnv, computeGroupRewards, tags, ...options }: MessageEnvGroupOptions): EnvGroup {
  return {
    tags,
    makeEnvs: (context) =>
      Promise.all(Array.from({ length: context.groupSize }, async () => messageEnv(await makeEnv(context), context.renderer, options))),
    ...(computeGroupRewards && { computeGroupRewards }),
  };
}

class RenderedEnv implements Env {
  readonly #env: MessageEnv;
  readonly #renderer: Renderer;
  readonly #options: MessageEnvOptions;

  constructor(env: MessageEnv, renderer: Renderer, options: MessageEnvOptions) {
    this.#env = env;
    this.#renderer = renderer;
    this.#options = options;
  }

  async initialObservation(): Promise<Observation | InitialOverflow> {
    const { contextOverflowReward: reward = DEFAULT_OVERFLOW_REWARD } = this.#options;
    const observation = this.#render(await this.#env.initialMessages());
    if (!this.#overflows(observation)) return observation;
    return { overflow: { reward, metrics: { max_tokens_reached: 1, ...stopMetric('max_tokens') } } };
  }

  async step({ tokens, stopReason }: Action): Promise<EnvStep> {
    const { message, termination } = this.#renderer.parseResponse(tokens);
    if (stopReason === 'length') return this.#stepTruncated(message);
    const failure = classifyParseFailure(message, termination);
    if (failure?.kind === 'structural') return this.#unreadable(failure.detail);
    return this.#observe(await this.#env.step(message));
  }

  async #stepTruncated(message: Message): Promise<EnvStep> {
    const { terminateOnLength = true, lengthReward: reward = DEFAULT_LENGTH_REWARD } = this.#options;
    if (terminateOnLength || this.#env.stepTruncated === undefined) {
      return { reward, episodeDone: true, metrics: { max_tokens_reached: 1, ...stopMetric('max_tokens') } };
    }
    const step = await this.#env.stepTruncated(message);
    const note = "sampling stopped on 'length'; turn kept, episode continues";
    return this.#observe({ ...step, logs: { ...step.logs, truncated_turn: note } });
  }

  #unreadable(detail: string): EnvStep {
    const { parseErrors, failedParseReward = DEFAULT_FAILED_PARSE_REWARD } = this.#options;
    const metrics = { parse_error: 1, ...stopMetric('parse_error') };
    if (parseErrors === undefined) return { reward: failedParseReward, episodeDone: true, metrics };
    const { terminalReward: reward = 0, maskErrorTurns = false } = parseErrors;
    const logs = { parse_failure_kind: 'structural', parse_failure_detail: detail };
    return { reward, episodeDone: true, metrics: maskErrorTurns ? { ...metrics, parse_error_masked: 1 } : metrics, logs };
  }

  #observe({ reward, episodeDone, messages, metrics = {}, logs }: MessageStep): EnvStep {
    const next = this.#render(messages);
    if (episodeDone || !this.#overflows(next)) return { reward, episodeDone, next, metrics, logs };
    const { contextOverflowReward = DEFAULT_OVERFLOW_REWARD } = this.#options;
    const overflow = { ...metrics, context_overflow: 1, ...stopMetric('context_overflow') };
    return { reward: contextOverflowReward, episodeDone: true, metrics: overflow, logs };
  }

  #render(messages: readonly Message[]): Observation {
    return { prompt: this.#renderer.buildGenerationPrompt(messages), stop: this.#renderer.getStopSequences() };
  }

  #overflows({ prompt }: Observation): boolean {
    const { maxTrajectoryTokens = Number.POSITIVE_INFINITY, maxGenerationTokens = 0 } = this.#options;
    return prompt.length + maxGenerationTokens > maxTrajectoryTokens;
  }
}
