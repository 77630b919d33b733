import { betweenMs, type Clock, elapsedMs, type MonotonicTime } from '@tinkex/http';
import type { QueueState } from '@tinkex/types';
import type { EventHandlers } from '../events/event-handlers.js';

/** What a progress view shows. */
export interface ProgressReading {
  readonly step: number;
  readonly totalSteps?: number | undefined;
  readonly elapsedMs: number;
  /** Per token, where the server reports a sum. */
  readonly loss?: number | undefined;
  readonly tokensPerSecond?: number | undefined;
  readonly etaMs?: number | undefined;
  readonly queueState?: QueueState | undefined;
  /** How long the queue has been in that state. */
  readonly queueStateMs?: number | undefined;
  readonly isRateLimited: boolean;
  readonly retries: number;
  readonly samples: number;
  readonly failures: number;
  /** Broken runs that a recovery monitor restarted. */
  readonly restarts: number;
}

/** What counts as a step, and where the loss is. */
export interface ProgressStateOptions {
  readonly clock: Clock;
  readonly totalSteps?: number | undefined;
  /** The step that the run starts at. */
  readonly startStep: number;
  readonly stepType: string;
  readonly lossMetric?: string | undefined;
}

type Counter = 'samples' | 'retries' | 'failures' | 'restarts';

/** Gathers events into one reading, in constant memory. */
export class ProgressState {
  readonly #options: ProgressStateOptions;
  readonly #startedAt: MonotonicTime;
  readonly #stepRate = new RateWindow();
  readonly #tokenRate = new RateWindow();
  readonly #counts: Record<Counter, number> = { samples: 0, retries: 0, failures: 0, restarts: 0 };
  #step: number;
  #loss: number | undefined;
  #queue: { readonly state: QueueState; readonly since: MonotonicTime } | undefined;
  #isRateLimited = false;

  constructor(options: ProgressStateOptions) {
    this.#options = options;
    this.#step = options.startStep;
    this.#startedAt = options.clock.monotonicMs();
    this.#stepRate.add(this.#startedAt, 0);
    this.#tokenRate.add(this.#startedAt, 0);
  }

  /** Handlers that keep the state current. They call `onChange` when there is something new to show. */
  handlers(onChange: () => void): EventHandlers {
    const { clock, stepType, lossMetric } = this.#options;
    const count = (counter: Counter, amount = 1): void => {
      this.#counts[counter] += amount;
      onChange();
    };
    const setRateLimited = (isRateLimited: boolean): void => {
      this.#isRateLimited = isRateLimited;
      onChange();
    };
    return {
      'tinkex:training:operation': ({ tokens, metrics, lossWeight }) => {
        if (tokens > 0) this.#tokenRate.add(clock.monotonicMs(), tokens);
        this.#loss = findLoss(metrics, lossMetric, lossWeight) ?? this.#loss;
      },
      'tinkex:future:settled': ({ outcome, requestType }) => {
        if (outcome === 'rejected' || requestType !== stepType) return;
        this.#step += 1;
        this.#stepRate.add(clock.monotonicMs(), 1);
        onChange();
      },
      'tinkex:sampling:call': ({ errorCode, samples, sampledTokens }) => {
        if (sampledTokens > 0) this.#tokenRate.add(clock.monotonicMs(), sampledTokens);
        if (errorCode === undefined) count('samples', samples);
        else count('failures');
      },
      'tinkex:queue:state_change': ({ to }) => {
        this.#queue = { state: to, since: clock.monotonicMs() };
        onChange();
      },
      'tinkex:rate_limit:set': () => setRateLimited(true),
      'tinkex:rate_limit:cleared': () => setRateLimited(false),
      'tinkex:http:request:retry': () => count('retries'),
      'tinkex:future:unobserved_failure': () => count('failures'),
      'tinkex:recovery:given_up': () => count('failures'),
      'tinkex:recovery:recovered': () => count('restarts'),
    };
  }

  read(): ProgressReading {
    const { clock, totalSteps } = this.#options;
    const stepsPerMs = this.#stepRate.perMs();
    const tokensPerMs = this.#tokenRate.perMs();
    const isEtaKnown = totalSteps !== undefined && stepsPerMs > 0;
    return {
      step: this.#step,
      totalSteps,
      elapsedMs: elapsedMs(clock, this.#startedAt),
      loss: this.#loss,
      tokensPerSecond: tokensPerMs > 0 ? tokensPerMs * 1_000 : undefined,
      etaMs: isEtaKnown ? Math.max(0, totalSteps - this.#step) / stepsPerMs : undefined,
      queueState: this.#queue?.state,
      queueStateMs: this.#queue && elapsedMs(clock, this.#queue.since),
      isRateLimited: this.#isRateLimited,
      ...this.#counts,
    };
  }
}

/** The named metric. Without a name: `loss` with any reduction, a sum per token, else the first metric with "loss" in its name. */
function findLoss(metrics: Readonly<Record<string, number>>, wanted: string | undefined, weight = 0): number | undefined {
  if (wanted !== undefined) return metrics[wanted];
  const names = Object.keys(metrics);
  const name =
    names.find((candidate) => candidate === 'loss' || candidate.startsWith('loss:')) ??
    names.find((candidate) => candidate.toLowerCase().includes('loss'));
  if (name === undefined) return undefined;
  const value = metrics[name];
  const divisor = metrics['weights:sum'] ?? weight;
  return value !== undefined && name.endsWith(':sum') && divisor > 0 ? value / divisor : value;
}

const WINDOW_SIZE = 32;

/** A rate over the last 32 moments, which follows changes without jumping. */
class RateWindow {
  readonly #moments: { readonly at: MonotonicTime; readonly amount: number }[] = [];

  add(at: MonotonicTime, amount: number): void {
    this.#moments.push({ at, amount });
    if (this.#moments.length > WINDOW_SIZE) this.#moments.shift();
  }

  /** Amount per millisecond between the first and the last moment; 0 until they are apart in time. */
  perMs(): number {
    const [first, ...later] = this.#moments;
    const last = later.at(-1);
    if (first === undefined || last === undefined || last.at <= first.at) return 0;
    // The first amount belongs to the time before the window.
    return later.reduce((sum, { amount }) => sum + amount, 0) / betweenMs(first.at, last.at);
  }
}
