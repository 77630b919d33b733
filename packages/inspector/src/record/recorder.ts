import type { Clock } from '@tinkex/http';
import { type Attachment, type AttachOptions, attachHandlers, type EventHandlers } from '@tinkex/telemetry';
import type { HttpRequestEvent, OperationEvent } from '@tinkex/types';
import { redactText } from '@tinkex/types/wire';
import type { ExampleView, Lane } from '../api/activity-views.js';
import { Activity } from './activity.js';
import type { EventRecord, RunDescription } from './event-record.js';
import { isHistory } from './event-record.js';
import { EventStore, type EventStoreOptions } from './event-store.js';
import { PerSecond } from './per-second.js';
import { Recording } from './recording.js';
import { StepCounter } from './step-counter.js';

/** The files of a recording inside a run folder. */
export const EVENTS_FOLDER = 'events';

/** Options of a {@link Recorder}. */
export interface RecorderOptions extends Omit<EventStoreOptions, 'clock'>, AttachOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly about?: RunDescription | undefined;
  /** How many operations per second get their own span on the timeline; the others are counted. Default 200. */
  readonly maxSpansPerSecond?: number | undefined;
}

const TICK_MS = 1_000;
const MAX_EXCHANGES_PER_SECOND = 20;
const MAX_TEXT = 300;

const LANES: Readonly<Record<string, Lane>> = {
  Sample: 'sampling',
  Forward: 'passes',
  ForwardBackward: 'passes',
  CreateCustomLoss: 'passes',
  OptimStep: 'optimizer',
  SaveWeights: 'checkpoints',
  SaveWeightsForSampler: 'checkpoints',
  SaveWeightsExternal: 'checkpoints',
  LoadWeights: 'checkpoints',
};

/**
 * Records what the clients of this process do: each event updates a counter or becomes one record, which goes to the disk and into the picture that the page shows.
 * What happens thousands of times a second is counted, and recorded one by one only up to a limit.
 */
export class Recorder {
  readonly recording = new Recording();
  readonly #clock: Clock;
  readonly #attachment: Attachment;
  readonly #history: EventStore;
  readonly #lately: EventStore;
  readonly #activity = new Activity();
  readonly #steps = new StepCounter();
  readonly #spans: PerSecond;
  readonly #exchanges = new PerSecond(MAX_EXCHANGES_PER_SECOND);
  readonly #onExit = (): void => this.#flush();
  #timer: unknown;
  #lastShown = '';
  #isClosed = false;

  constructor({
    folder,
    clock,
    about = {},
    maxSpansPerSecond = 200,
    onError,
    subscribe,
    clientId,
    baseUrl,
    filter,
    ...files
  }: RecorderOptions) {
    this.#clock = clock;
    this.#spans = new PerSecond(maxSpansPerSecond);
    this.#history = new EventStore(folder, 'history', { clock, ...files });
    this.#lately = new EventStore(folder, 'lately', { clock, ...files });
    this.#attachment = attachHandlers(this.#handlers(), { onError, subscribe, clientId, baseUrl, filter });
    const name =
      about.name ??
      process.argv[1]
        ?.split(/[\\/]/)
        .at(-1)
        ?.replace(/\.\w+$/, '') ??
      'program';
    this.#write({ kind: 'begin', atMs: this.#clock.wallMs(), pid: process.pid, ...about, name });
    process.once('exit', this.#onExit);
    this.#tick();
  }

  addExample(example: Omit<ExampleView, 'atMs'>): void {
    const atMs = this.#clock.wallMs();
    this.#write({ kind: 'example', atMs, example: { atMs, ...example } });
  }

  addMetrics(metrics: Readonly<Record<string, number>>, step: number, modelId: string): void {
    this.#write({ kind: 'metrics', atMs: this.#clock.wallMs(), modelId, step, metrics });
  }

  /** Ends the recording: it says that the program came to its end. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#attachment.detach();
    this.#clock.clearTimeout(this.#timer);
    process.off('exit', this.#onExit);
    this.#writeTick();
    this.#write({ kind: 'end', atMs: this.#clock.wallMs() });
    this.#history.close();
    this.#lately.close();
  }

  #write(record: EventRecord): void {
    this.recording.apply(record);
    (isHistory(record) ? this.#history : this.#lately).append(record);
  }

  #flush(): void {
    this.#history.flush();
    this.#lately.flush();
  }

  #tick(): void {
    this.#writeTick();
    this.#timer = this.#clock.setTimeout(() => this.#tick(), TICK_MS);
  }

  /** Nothing is written while nothing changes. */
  #writeTick(): void {
    const reading = this.#activity.read(this.#clock.wallMs(), this.#clock.monotonicMs());
    const shown = JSON.stringify({ ...reading, atMs: 0 });
    if (shown === this.#lastShown) return;
    this.#lastShown = shown;
    this.#write({ kind: 'tick', atMs: reading.atMs, reading, routes: this.#activity.routes, droppedSpans: this.#spans.dropped });
  }

  #handlers(): EventHandlers {
    const activity = this.#activity;
    const { totals } = activity;
    return {
      'tinkex:http:request:stop': (event) => this.#attempted(event, event.status !== undefined && event.status >= 400),
      'tinkex:http:request:exception': (event) => this.#attempted(event, true),
      'tinkex:http:request:retry': () => {
        totals.retries += 1;
      },
      'tinkex:chunk:submit': ({ requestType, requestId, chunkIndex }) => {
        if (chunkIndex === 0) activity.accepted(requestType);
        if (requestId !== undefined) activity.waits(requestType, requestId, this.#clock.wallMs());
      },
      'tinkex:future:poll': ({ requestType, requestId, outcome }) => {
        if (outcome === 'pending' || outcome === 'retry') activity.waits(requestType, requestId, this.#clock.wallMs());
      },
      'tinkex:queue:state_change': ({ requestType, requestId, to, reason }) => {
        activity.waits(requestType, requestId, this.#clock.wallMs(), to, reason === undefined ? undefined : redactText(reason, MAX_TEXT));
      },
      'tinkex:future:settled': (event) => {
        if (event.outcome === 'rejected') totals.failures += 1;
        this.#span(event, event.outcome === 'rejected' ? (event.errorCode ?? 'failed') : undefined);
        activity.settled(event.requestType, event.requestId);
      },
      'tinkex:training:operation': ({ requestType, modelId, tokens, metrics }) => {
        totals.trainedTokens += tokens;
        if (requestType === 'OptimStep') activity.step();
        const record = this.#steps.record(requestType, modelId, tokens, metrics);
        if (record !== undefined) this.#write({ kind: 'metrics', atMs: this.#clock.wallMs(), modelId, ...record });
      },
      'tinkex:sampling:call': ({ errorCode, samples, promptTokens, sampledTokens }) => {
        if (errorCode !== undefined) return;
        totals.samples += samples;
        totals.promptTokens += promptTokens;
        totals.sampledTokens += sampledTokens;
      },
      'tinkex:checkpoint:save': ({ modelId, path }) => {
        this.#write({ kind: 'checkpoint', atMs: this.#clock.wallMs(), modelId, path, step: this.#steps.of(modelId) });
      },
      'tinkex:rate_limit:set': ({ delayMs }) => activity.rateLimited(this.#clock.wallMs() + delayMs),
      'tinkex:rate_limit:cleared': () => activity.rateLimited(undefined),
      'tinkex:session:heartbeat_missed': () => {
        totals.missedHeartbeats += 1;
      },
    };
  }

  #attempted(event: HttpRequestEvent, isFailure: boolean): void {
    const { requestType: type, path, status, requestBytes: sentBytes, responseBytes = 0, durationMs = 0 } = event;
    const isPoll = path.endsWith('/retrieve_future');
    this.#activity.attempt(isPoll ? 'retrieve_future' : type, isFailure, sentBytes, responseBytes, durationMs);
    // A pass is accepted chunk by chunk, which has its own event.
    const lane = Object.hasOwn(LANES, type) ? LANES[type] : undefined;
    if (!isPoll && !isFailure && lane !== undefined && lane !== 'passes') this.#activity.accepted(type);
    const atMs = this.#clock.wallMs();
    if (!this.#exchanges.admits(atMs)) return;
    const { method, attempt, errorCode: error, responseBytes: receivedBytes } = event;
    this.#write({ kind: 'exchange', atMs, type, method, path, attempt, status, error, durationMs, sentBytes, receivedBytes });
  }

  #span({ requestType: type, requestId: id, durationMs = 0 }: OperationEvent, error: string | undefined): void {
    const endMs = this.#clock.wallMs();
    if (!this.#spans.admits(endMs)) return;
    const phases = this.#activity.phasesOf(id);
    const lane = LANES[type] ?? 'other';
    this.#write({ kind: 'span', atMs: endMs, lane, type, startMs: endMs - durationMs, ...phases, endMs, id, error });
  }
}
