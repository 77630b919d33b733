import { type Clock, systemClock } from '@tinkex/http';
import type { RequestType } from '@tinkex/types';
import { type AttachOptions, attach } from '../attach/attach.js';
import type { Attachment } from '../attach/attachment.js';
import { processEnvironment } from '../environment.js';
import { type ProgressStream, plainOutput, terminalOutput } from './progress-output.js';
import { type ProgressReading, ProgressState } from './progress-state.js';

/** Options of {@link attachProgress}. */
export interface ProgressOptions extends AttachOptions {
  /** Where to write. Default `process.stderr`, so that the program's own output stays clean. */
  readonly stream?: ProgressStream;
  /** How many steps the run has; with it the view shows the time left. */
  readonly totalSteps?: number;
  /** Whether to rewrite one line. Default: what the stream says of itself. Without a terminal every update is a line of its own. */
  readonly isTTY?: boolean;
  /** Colours. Default: on a terminal, unless `NO_COLOR` is set. */
  readonly hasColours?: boolean;
  /** The least time between two updates. Default 100 ms on a terminal, 1,000 ms without; 0 shows every step. */
  readonly intervalMs?: number;
  /** The operation whose success is a step. Default `'OptimStep'`. */
  readonly stepType?: RequestType;
  /** The metric to show as loss. Default: the first that is called `loss`, with any reduction. */
  readonly lossMetric?: string;
  /** Default: the machine's time. */
  readonly clock?: Clock;
}

/** A progress view that is attached. `detach()` writes the last state and ends the line. */
export interface ProgressAttachment extends Attachment {
  /** What the view would show now. */
  read(): ProgressReading;
}

/**
 * Shows how a long run goes: step, loss, tokens per second, queue state, retries, time left. On a terminal one line is kept up to date;
 * elsewhere plain lines are written, with no escape sequences.
 *
 * @throws ConfigurationError if the `baseUrl` to filter by is no URL.
 */
export function attachProgress(options: ProgressOptions = {}): ProgressAttachment {
  const { stream = process.stderr, clock = systemClock, stepType = 'OptimStep', totalSteps, lossMetric } = options;
  const isTTY = options.isTTY ?? stream.isTTY === true;
  const hasColours = options.hasColours ?? (isTTY && !processEnvironment()['NO_COLOR']);
  const output = isTTY ? terminalOutput(stream, hasColours) : plainOutput(stream);
  const intervalMs = options.intervalMs ?? (isTTY ? 100 : 1_000);
  const state = new ProgressState(
    { stepType, ...(totalSteps === undefined ? {} : { totalSteps }), ...(lossMetric === undefined ? {} : { lossMetric }) },
    clock.now(),
  );
  let lastShownMs = Number.NEGATIVE_INFINITY;
  let timer: unknown;

  const show = (): void => {
    lastShownMs = clock.now();
    output.show(state.read(lastShownMs));
  };
  /** Shows now, or, too soon after the last time, once the interval is over: the newest state always gets shown. */
  const update = (): void => {
    const waitMs = lastShownMs + intervalMs - clock.now();
    if (waitMs <= 0) show();
    else {
      timer ??= clock.setTimeout(() => {
        timer = undefined;
        try {
          show();
        } catch (error) {
          attachment.recordError(error);
        }
      }, waitMs);
    }
  };

  const attachment = attach(
    'attachProgress',
    {
      'tinkex:training:operation': (event) => state.trained(event, clock.now()),
      'tinkex:future:settled': (event) => {
        if (state.settled(event, clock.now())) update();
      },
      'tinkex:sampling:call': (event) => {
        state.sampled(event, clock.now());
        update();
      },
      'tinkex:queue:state_change': ({ to }) => {
        state.queued(to);
        update();
      },
      'tinkex:http:request:retry': () => {
        state.retried();
        update();
      },
      'tinkex:future:unobserved_failure': () => {
        state.failed();
        update();
      },
      'tinkex:recovery:recovered': () => {
        state.restarted();
        update();
      },
      'tinkex:recovery:given_up': () => {
        state.failed();
        update();
      },
      'tinkex:rate_limit:set': () => {
        state.rateLimited(true);
        update();
      },
      'tinkex:rate_limit:cleared': () => {
        state.rateLimited(false);
        update();
      },
    },
    options,
  );

  let isAttached = true;
  const detach = (): void => {
    if (!isAttached) return;
    isAttached = false;
    attachment.detach();
    if (timer !== undefined) clock.clearTimeout(timer);
    try {
      output.finish(state.read(clock.now()));
    } catch (error) {
      attachment.recordError(error);
    }
  };
  return {
    detach,
    get errors() {
      return attachment.errors;
    },
    read: () => state.read(clock.now()),
    [Symbol.dispose]: detach,
  };
}
