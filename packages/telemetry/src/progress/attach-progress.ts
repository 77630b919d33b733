import { type Clock, type MonotonicTime, remainingMs, systemClock, timeAfter } from '@tinkex/http';
import type { RequestType } from '@tinkex/types';
import { type Attachment, type AttachOptions, Consumer } from '../attach/consumer.js';
import { readEnvironment } from '../environment.js';
import { type ProgressOutput, type ProgressStream, plainOutput, terminalOutput } from './progress-output.js';
import { type ProgressReading, ProgressState } from './progress-state.js';

/** Options of {@link attachProgress}. */
export interface ProgressOptions extends AttachOptions {
  /** Where to write. Default `process.stderr`, so that the program's own output stays clean. */
  readonly stream?: ProgressStream | undefined;
  /** How many steps the run has. With it, the view shows the time left. */
  readonly totalSteps?: number | undefined;
  /** The step that a resumed run starts at. Default 0. */
  readonly startStep?: number | undefined;
  /** Whether to rewrite one line. Default: whether the stream is a terminal. Without a terminal, each update is a new line. */
  readonly isTTY?: boolean | undefined;
  /** Whether to use colors. Default: on a terminal, unless `NO_COLOR` is set. */
  readonly hasColors?: boolean | undefined;
  /** The minimum time between two updates. Default 100 ms on a terminal, 10 s without; 0 shows every step. */
  readonly intervalMs?: number | undefined;
  /** How long nothing may be written: the time continues while a step takes minutes. Default 1 s on a terminal, a minute without; 0 turns it off. */
  readonly tickMs?: number | undefined;
  /** The operation whose success is a step. Default `'OptimStep'`. */
  readonly stepType?: RequestType | undefined;
  /** The metric to show as loss, as it is. Default: the first metric called `loss`; a sum is shown per token. */
  readonly lossMetric?: string | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** An attached progress view. `detach()` writes the last state and ends the line. */
export interface ProgressAttachment extends Attachment {
  /** What the view would show now. */
  read(): ProgressReading;
}

/**
 * Shows the progress of a long run: step, loss, tokens per second, time left, queue state, retries. On a terminal it keeps one line up to
 * date; elsewhere it writes plain lines without escape sequences.
 *
 * @throws ConfigurationError if the `baseUrl` to filter by is not a URL.
 */
export function attachProgress(options: ProgressOptions = {}): ProgressAttachment {
  return new ProgressView(options);
}

class ProgressView extends Consumer implements ProgressAttachment {
  readonly #clock: Clock;
  readonly #state: ProgressState;
  readonly #output: ProgressOutput;
  readonly #intervalMs: number;
  readonly #tickMs: number;
  #nextShow: MonotonicTime | undefined;
  #timer: unknown;
  #tick: unknown;
  #isFinished = false;

  constructor(options: ProgressOptions) {
    super('attachProgress', options);
    const { stream = process.stderr, clock = systemClock, stepType = 'OptimStep', totalSteps, startStep = 0, lossMetric } = options;
    const isTTY = options.isTTY ?? stream.isTTY === true;
    const hasColors = options.hasColors ?? (isTTY && !readEnvironment('NO_COLOR'));
    this.#clock = clock;
    this.#state = new ProgressState({ clock, stepType, totalSteps, startStep, lossMetric });
    this.#output = isTTY ? terminalOutput(stream, hasColors) : plainOutput(stream);
    this.#intervalMs = options.intervalMs ?? (isTTY ? 100 : 10_000);
    this.#tickMs = options.tickMs ?? (isTTY ? 1_000 : 60_000);
    this.listen(this.#state.handlers(() => this.#update()));
    this.#scheduleTick();
  }

  read(): ProgressReading {
    return this.#state.read();
  }

  override detach(): void {
    super.detach();
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#clock.clearTimeout(this.#timer);
    this.#clock.clearTimeout(this.#tick);
    this.#guard(() => this.#output.finish(this.read()));
  }

  /** Shows the state now, or when the interval is over: the newest state is always shown. */
  #update(): void {
    const waitMs = this.#nextShow === undefined ? 0 : remainingMs(this.#clock, this.#nextShow);
    if (waitMs <= 0) this.#show();
    else this.#timer ??= this.#clock.setTimeout(() => this.#showLater(), waitMs);
  }

  #showLater(): void {
    this.#timer = undefined;
    this.#guard(() => this.#show());
  }

  #show(): void {
    this.#nextShow = timeAfter(this.#clock, this.#intervalMs);
    this.#scheduleTick();
    this.#output.show(this.read());
  }

  /** Shows the state again if nothing else does: each update moves the tick. */
  #scheduleTick(): void {
    if (this.#tickMs <= 0) return;
    this.#clock.clearTimeout(this.#tick);
    this.#tick = this.#clock.setTimeout(() => this.#guard(() => this.#show()), this.#tickMs);
  }

  #guard(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.recordError(error);
    }
  }
}
