import { type Clock, type MonotonicTime, NEVER, remainingMs, timeAfter } from '@tinkex/http';
import { ModelInput, TimeoutError } from '@tinkex/types';
import { withTimeLimit } from '../../loop/time-limit.js';
import type { Action, Env, EnvStep, InitialOverflow, Observation } from '../environments/env.js';
import { type RolloutLimits, resolveLimits, tokensOfTurn } from './limits.js';
import type { Policy } from './policy.js';
import { type RolloutStopReason, stopMetric, stopReasonOf, withStopReason } from './stop-reason.js';
import type { Trajectory, Transition } from './trajectory.js';

/** What a rollout runs with. */
export interface RolloutOptions {
  readonly policy: Policy;
  readonly limits?: RolloutLimits | undefined;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** The seed of each turn's action. Default: the server's choice. */
  readonly seedOf?: ((turn: number) => number) | undefined;
}

const TRUNCATIONS = 'num_truncations_max_turn_tokens';
const NO_ACTION: Action = { tokens: new Int32Array(), logprobs: new Float32Array(), stopReason: 'stop' };

/**
 * Plays one episode: observe, act, step, until the environment or a limit ends it. Rejects with what the environment or the sampler throws, and with
 * `TimeoutError` when one of them takes too long.
 */
export async function runRollout(env: Env, options: RolloutOptions): Promise<Trajectory> {
  return new Rollout(env, options).run();
}

class Rollout {
  readonly #env: Env;
  readonly #options: RolloutOptions;
  readonly #limits: ReturnType<typeof resolveLimits>;
  readonly #deadline: MonotonicTime;
  readonly #transitions: Transition[] = [];
  #sampledTokens = 0;
  #truncations = 0;
  #next: ModelInput = ModelInput.empty();

  constructor(env: Env, options: RolloutOptions) {
    this.#env = env;
    this.#options = options;
    this.#limits = resolveLimits(options.limits ?? {});
    const { rolloutTimeoutSeconds } = this.#limits;
    this.#deadline = rolloutTimeoutSeconds === undefined ? NEVER : timeAfter(options.clock, rolloutTimeoutSeconds * 1_000);
  }

  async run(): Promise<Trajectory> {
    const initial = await this.#inTime(() => this.#observe());
    if (initial === undefined) return this.#stopped('rollout_timeout');
    if ('overflow' in initial) return this.#overflowed(initial);
    let observation: Observation | undefined = initial;
    while (observation !== undefined) {
      this.#next = observation.prompt;
      const turn: Turn | undefined = await this.#turn(observation);
      if (turn === undefined) return this.#stopped('rollout_timeout');
      if ('reason' in turn) return this.#stopped(turn.reason);
      observation = turn.next;
    }
    return this.#finished();
  }

  #observe(): Promise<Observation | InitialOverflow> {
    return this.#callEnv('initialObservation', () => this.#env.initialObservation());
  }

  async #turn(observation: Observation): Promise<Turn | undefined> {
    const { clock, policy, signal, seedOf } = this.#options;
    const turn = this.#transitions.length;
    if (clock.monotonicMs() >= this.#deadline) return { reason: 'rollout_timeout' };
    if (turn >= (this.#limits.maxTurns ?? Number.POSITIVE_INFINITY)) return { reason: 'max_turns' };
    const observationTokens = observation.prompt.length;
    const maxTokens = tokensOfTurn(this.#limits, { observationTokens, sampledTokens: this.#sampledTokens });
    if (typeof maxTokens === 'string') return { reason: maxTokens };
    return this.#inTime(async () => {
      const what = `Sampling turn ${turn}`;
      const timeoutMs = this.#timeoutMs(this.#limits.samplingTurnTimeoutSeconds);
      const sample = () => policy(observation, { maxTokens, seed: seedOf?.(turn), signal });
      const action = await withTimeLimit(sample, { what, timeoutMs, clock, signal });
      const step = await this.#callEnv('step', () => this.#env.step(action));
      this.#record(observation, action, step);
      if (!step.episodeDone && step.next === undefined) throw new Error('The environment is not done and gave no next observation.');
      return { next: step.episodeDone ? undefined : step.next };
    });
  }

  #record({ prompt }: Observation, action: Action, { reward, episodeDone, next, metrics = {}, logs = {} }: EnvStep): void {
    this.#sampledTokens += action.tokens.length;
    if (action.stopReason === 'length' && !episodeDone) this.#truncations++;
    this.#transitions.push({ observation: prompt, action, reward, episodeDone, metrics, logs });
    this.#next = next?.prompt ?? ModelInput.empty();
  }

  #callEnv<T>(call: string, work: () => T | PromiseLike<T>): Promise<Awaited<T>> {
    const { clock, signal } = this.#options;
    const timeoutMs = this.#timeoutMs(this.#limits.envTimeoutSeconds);
    return withTimeLimit(work, { what: `${call}() of the environment`, timeoutMs, clock, signal });
  }

  /** The result, or undefined if the time of the whole episode ran out meanwhile. */
  async #inTime<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (TimeoutError.isInstance(error) && this.#options.clock.monotonicMs() >= this.#deadline) return undefined;
      throw error;
    }
  }

  #timeoutMs(seconds: number | undefined): number | undefined {
    const timeoutMs = Math.min((seconds ?? Number.POSITIVE_INFINITY) * 1_000, remainingMs(this.#options.clock, this.#deadline));
    return Number.isFinite(timeoutMs) ? timeoutMs : undefined;
  }

  /** A limit ends the episode: its last turn becomes the last of the episode. */
  #stopped(reason: RolloutStopReason): Trajectory {
    const last = this.#transitions.pop();
    this.#transitions.push(
      last === undefined
        ? { observation: ModelInput.empty(), action: NO_ACTION, reward: 0, episodeDone: true, metrics: stopMetric(reason), logs: {} }
        : { ...last, episodeDone: true, metrics: withStopReason(last.metrics, reason) },
    );
    return this.#finished();
  }

  #overflowed({ overflow: { reward, metrics = {}, logs = {} } }: InitialOverflow): Trajectory {
    this.#transitions.push({ observation: ModelInput.empty(), action: NO_ACTION, reward, episodeDone: true, metrics, logs });
    return this.#finished();
  }

  #finished(): Trajectory {
    const last = this.#transitions.at(-1);
    if (last !== undefined && this.#truncations > 0) {
      this.#transitions[this.#transitions.length - 1] = { ...last, metrics: { ...last.metrics, [TRUNCATIONS]: this.#truncations } };
    }
    const transitions = this.#transitions;
    return { transitions, finalObservation: this.#next, stopReason: stopReasonOf(transitions.at(-1)?.metrics ?? {}) };
  }
}

type Turn = { readonly next: Observation | undefined } | { readonly reason: RolloutStopReason };
