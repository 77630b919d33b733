import type { FutureSettledEvent, QueueState, SamplingCallEvent, TrainingOperationEvent } from '@tinkex/types';
import { RateWindow } from './rate-window.js';

/** What a progress view shows. */
export interface ProgressReading {
  readonly step: number;
  readonly totalSteps?: number;
  readonly elapsedMs: number;
  readonly loss?: number;
  readonly tokensPerSecond?: number;
  readonly etaMs?: number;
  readonly queueState?: QueueState;
  readonly isRateLimited: boolean;
  readonly retries: number;
  readonly samples: number;
  readonly failures: number;
  /** Broken runs that a recovery monitor has restarted. */
  readonly restarts: number;
}

/** Options of the reading. */
export interface ProgressStateOptions {
  readonly totalSteps?: number;
  readonly stepType: string;
  readonly lossMetric?: string;
}

/** Gathers what events tell into one reading. Constant memory. */
export class ProgressState {
  readonly #options: ProgressStateOptions;
  readonly #startedAtMs: number;
  readonly #steps = new RateWindow();
  readonly #tokens = new RateWindow();
  #step = 0;
  #loss: number | undefined;
  #queueState: QueueState | undefined;
  #isRateLimited = false;
  #retries = 0;
  #samples = 0;
  #failures = 0;
  #restarts = 0;

  constructor(options: ProgressStateOptions, nowMs: number) {
    this.#options = options;
    this.#startedAtMs = nowMs;
    this.#steps.add(nowMs, 0);
    this.#tokens.add(nowMs, 0);
  }

  trained(event: TrainingOperationEvent, nowMs: number): void {
    if (event.tokens > 0) this.#tokens.add(nowMs, event.tokens);
    this.#loss = lossOf(event.metrics, this.#options.lossMetric) ?? this.#loss;
  }

  /** Returns whether that completed a step. */
  settled({ requestType, outcome }: FutureSettledEvent, nowMs: number): boolean {
    if (outcome === 'rejected' || requestType !== this.#options.stepType) return false;
    this.#step += 1;
    this.#steps.add(nowMs, 1);
    return true;
  }

  sampled(event: SamplingCallEvent, nowMs: number): void {
    if (event.errorCode === undefined) this.#samples += event.samples;
    else this.#failures += 1;
    if (event.sampledTokens > 0) this.#tokens.add(nowMs, event.sampledTokens);
  }

  retried(): void {
    this.#retries += 1;
  }

  failed(): void {
    this.#failures += 1;
  }

  restarted(): void {
    this.#restarts += 1;
  }

  queued(state: QueueState): void {
    this.#queueState = state;
  }

  rateLimited(isRateLimited: boolean): void {
    this.#isRateLimited = isRateLimited;
  }

  read(nowMs: number): ProgressReading {
    const { totalSteps } = this.#options;
    const stepsPerMs = this.#steps.perMs();
    const tokensPerMs = this.#tokens.perMs();
    const left = totalSteps === undefined ? undefined : Math.max(0, totalSteps - this.#step);
    return {
      step: this.#step,
      elapsedMs: nowMs - this.#startedAtMs,
      isRateLimited: this.#isRateLimited,
      retries: this.#retries,
      samples: this.#samples,
      failures: this.#failures,
      restarts: this.#restarts,
      ...(totalSteps === undefined ? {} : { totalSteps }),
      ...(this.#loss === undefined ? {} : { loss: this.#loss }),
      ...(this.#queueState === undefined ? {} : { queueState: this.#queueState }),
      ...(tokensPerMs === undefined || tokensPerMs === 0 ? {} : { tokensPerSecond: tokensPerMs * 1_000 }),
      ...(left === undefined || stepsPerMs === undefined || stepsPerMs === 0 ? {} : { etaMs: left / stepsPerMs }),
    };
  }
}

/** The named metric; without a name, `loss` with any reduction, else the first metric that speaks of a loss. */
function lossOf(metrics: Readonly<Record<string, number>>, wanted: string | undefined): number | undefined {
  if (wanted !== undefined) return metrics[wanted];
  let loose: number | undefined;
  for (const name in metrics) {
    if (name === 'loss' || name.startsWith('loss:')) return metrics[name];
    if (loose === undefined && name.toLowerCase().includes('loss')) loose = metrics[name];
  }
  return loose;
}
