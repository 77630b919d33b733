import { type Clock, elapsedMs, type HttpClient, type MonotonicTime, type Random, systemClock } from '@tinkex/http';
import { randomUuid } from '@tinkex/http/runtime';
import { ErrorCounter } from '../attach/error-counter.js';
import { Delivery, type SendBatch } from './delivery.js';
import { EventQueue } from './event-queue.js';
import { exceptionReport } from './exception-report.js';
import { sendOverHttp, telemetryBatch } from './telemetry-batch.js';
import { type GenericReport, type Report, type ReportSeverity, type TelemetryEvent, telemetryEvent } from './telemetry-event.js';

/** Options of a {@link ServiceReporter}. Pass `http` or `send`. */
export type ServiceReporterOptions = ServiceReporterSettings & ({ readonly http: HttpClient } | { readonly send: SendBatch });

/** The session, and the options that have defaults. */
export interface ServiceReporterSettings {
  /** The ID of the session. For an ID that starts with `sessionless-` neither start nor end is reported. */
  readonly sessionId: string;
  /** The version to report. */
  readonly sdkVersion: string;
  /** `false` makes every method do nothing. Default `true`; decide with {@link isTelemetryEnabled}. */
  readonly enabled?: boolean | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Random numbers in [0, 1), for the delays between attempts. Default `Math.random`. */
  readonly random?: Random | undefined;
  /** How many events may wait in the queue. A group of events that does not fit is dropped as a whole. Default 10,000. */
  readonly maxQueuedEvents?: number | undefined;
  /** Events in one request, from 1 to 100 (the service's limit); a number outside that range counts as the nearest in it. Default 100. */
  readonly maxBatchEvents?: number | undefined;
  /** How long an event waits for others to share its batch. Default 10,000. */
  readonly flushIntervalMs?: number | undefined;
  /** Attempts to send one batch before it is dropped. Default 5. */
  readonly maxAttempts?: number | undefined;
  /** Time limit of one attempt. Default 5,000. */
  readonly attemptTimeoutMs?: number | undefined;
}

/** How much a reporter has done. */
export interface ServiceReporterStatus {
  readonly queued: number;
  readonly sent: number;
  readonly dropped: number;
  /** The reporter is closed, disabled, or has given up: it drops everything from now on. */
  readonly isStopped: boolean;
}

/** The service's limit for one request. */
const MAX_BATCH_EVENTS = 100;

/** After this many lost batches in a row, reporting ends for good. */
const MAX_LOST_BATCHES = 3;

/**
 * Reports the client's life cycle and errors to the service it talks to: never data, prompts or keys. Events are queued (with a limit),
 * redacted, and sent in batches in the background. No method throws, rejects or makes a caller wait, except `flush` and `close`, which
 * wait for a limited time. If the service cannot be reached, the reporter makes a limited number of attempts and then gives up.
 *
 * One reporter belongs to one session and to its creator: closing it affects no other.
 */
export class ServiceReporter implements AsyncDisposable {
  readonly #settings: ServiceReporterSettings;
  readonly #clock: Clock;
  readonly #queue: EventQueue<TelemetryEvent>;
  readonly #delivery: Delivery;
  readonly #errors = new ErrorCounter('ServiceReporter');
  readonly #createdAt: MonotonicTime;
  readonly #batchEvents: number;
  #nextIndex = 0;
  #sent = 0;
  #dropped = 0;
  #lostBatches = 0;
  #isStarted = false;
  #isStopped: boolean;
  #isRunning = false;
  #timer: unknown;
  #closing: Promise<void> | undefined;

  constructor(options: ServiceReporterOptions) {
    const { clock = systemClock, random = Math.random, maxAttempts = 5, attemptTimeoutMs = 5_000 } = options;
    const { maxBatchEvents = MAX_BATCH_EVENTS, maxQueuedEvents = 10_000 } = options;
    this.#settings = options;
    this.#clock = clock;
    this.#isStopped = options.enabled === false;
    this.#queue = new EventQueue(maxQueuedEvents, clock);
    this.#createdAt = clock.monotonicMs();
    // The comparison also catches NaN: an empty batch takes nothing out of the queue and would be sent forever.
    this.#batchEvents = maxBatchEvents >= 1 ? Math.min(maxBatchEvents, MAX_BATCH_EVENTS) : 1;
    const send = 'send' in options ? options.send : sendOverHttp(options.http, attemptTimeoutMs);
    this.#delivery = new Delivery({ send, clock, random, maxAttempts, attemptTimeoutMs });
  }

  /** What happened to the events so far. */
  get status(): ServiceReporterStatus {
    return { queued: this.#queue.size, sent: this.#sent, dropped: this.#dropped, isStopped: this.#isStopped };
  }

  /** Reports the start of the session. Idempotent. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    if (!this.#isSessionless()) this.#enqueue([{ kind: 'SESSION_START' }]);
  }

  /**
   * Reports an error that a public method throws, and starts sending. With `fatal` it reports the end of the session too, as the
   * reference client does for every failed operation. Returns immediately.
   */
  capture(
    error: unknown,
    { fatal = false, severity }: { readonly fatal?: boolean | undefined; readonly severity?: ReportSeverity | undefined } = {},
  ): void {
    this.#guard(() => {
      const reports: Report[] = [exceptionReport(error, severity)];
      const isEnd = fatal && !this.#isSessionless();
      if (isEnd) reports.push({ kind: 'SESSION_END', durationMs: elapsedMs(this.#clock, this.#createdAt) });
      this.#enqueue(reports);
      this.#wake();
    });
  }

  /** Reports anything else, with the next batch. */
  event(report: Omit<GenericReport, 'kind'>): void {
    this.#enqueue([{ kind: 'GENERIC_EVENT', ...report }]);
  }

  /**
   * Sends what is queued now. Resolves `true` when all of it was delivered or dropped, `false` when the time (default 30,000 ms) is up.
   * Never rejects.
   */
  flush({ timeoutMs = 30_000 }: { readonly timeoutMs?: number | undefined } = {}): Promise<boolean> {
    const flushed = this.#queue.whenDrained(timeoutMs);
    this.#wake();
    return flushed;
  }

  /** Sends what is queued, within `timeoutMs` (default 5,000), then stops for good. Idempotent; never rejects. */
  close({ timeoutMs = 5_000 }: { readonly timeoutMs?: number | undefined } = {}): Promise<void> {
    this.#closing ??= this.#close(timeoutMs);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(timeoutMs: number): Promise<void> {
    this.#delivery.hurry();
    const flushed = this.flush({ timeoutMs });
    // Accepts no more events, but still sends what it has.
    this.#isStopped = true;
    await flushed;
    this.#delivery.abort();
    this.#dropAll();
  }

  #enqueue(reports: readonly Report[]): void {
    this.#guard(() => {
      const timestamp = new Date(this.#clock.wallMs()).toISOString();
      const stamp = (report: Report): TelemetryEvent =>
        telemetryEvent(report, { eventId: randomUuid(), eventSessionIndex: this.#nextIndex++, timestamp });
      if (this.#isStopped || !this.#queue.push(reports.map(stamp))) this.#dropped += reports.length;
      else if (!this.#isRunning) this.#timer ??= this.#clock.setTimeout(() => this.#wake(), this.#settings.flushIntervalMs ?? 10_000);
    });
  }

  #wake(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isRunning || this.#queue.size === 0) return;
    this.#isRunning = true;
    this.#run().catch((error: unknown) => {
      this.#errors.record(error);
      this.#isRunning = false;
      this.#stop();
    });
  }

  async #run(): Promise<void> {
    while (this.#queue.size > 0) {
      const events = this.#queue.peek(this.#batchEvents);
      const outcome = await this.#delivery.deliver(telemetryBatch(events, this.#settings));
      // close() may have emptied the queue in the meantime.
      const removed = this.#queue.remove(events.length);
      if (outcome === 'sent') this.#sent += removed;
      else this.#dropped += removed;
      this.#lostBatches = outcome === 'sent' ? 0 : this.#lostBatches + 1;
      if (outcome === 'refused' || this.#lostBatches >= MAX_LOST_BATCHES) this.#stop();
    }
    this.#isRunning = false;
  }

  #stop(): void {
    this.#isStopped = true;
    this.#dropAll();
  }

  #dropAll(): void {
    this.#dropped += this.#queue.remove(this.#queue.size);
  }

  #isSessionless(): boolean {
    return this.#settings.sessionId.startsWith('sessionless-');
  }

  /** Keeps errors of the reporter away from the application. */
  #guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#errors.record(error);
    }
  }
}
