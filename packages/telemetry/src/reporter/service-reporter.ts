import { randomUUID } from 'node:crypto';
import { type Clock, type HttpClient, type Random, systemClock } from '@tinkex/http';
import { endpoints, telemetryRequest, telemetryResponse } from '@tinkex/types/wire';
import { errorReport } from '../attach/error-report.js';
import { Delivery, type SendBatch } from './delivery.js';
import { EventQueue } from './event-queue.js';
import { exceptionReport } from './exception-report.js';
import { FlushWaiters } from './flush-waiters.js';
import { platformName, processUuid } from './process-identity.js';
import type { GenericReport, Report, ReportSeverity } from './report.js';
import { sessionDuration } from './session-duration.js';
import { type TelemetryEvent, telemetryEvent } from './telemetry-event.js';

/** Options of a {@link ServiceReporter}. Give `http` or `send`. */
export type ServiceReporterOptions = ServiceReporterSettings & ({ readonly http: HttpClient } | { readonly send: SendBatch });

/** The options that have defaults, and the session. */
export interface ServiceReporterSettings {
  /** The session's id. An id that starts with `sessionless-` gets neither start nor end events. */
  readonly sessionId: string;
  /** The version that is reported. */
  readonly sdkVersion: string;
  /** `false` makes every method do nothing. Default `true`; decide with {@link isTelemetryEnabled}. */
  readonly enabled?: boolean;
  /** Default: the machine's time. */
  readonly clock?: Clock;
  /** Spreads the pauses between tries. Default `Math.random`. */
  readonly random?: Random;
  /** Events that may wait; a group that does not fit is dropped as a whole. Default 10,000. */
  readonly maxQueuedEvents?: number;
  /** Events in one request, from 1 to 100 (the most the service takes); any other number counts as the nearest of these. Default 100. */
  readonly maxBatchEvents?: number;
  /** How long an event waits for company. Default 10,000. */
  readonly flushIntervalMs?: number;
  /** Tries of one batch before it is dropped. Default 5. */
  readonly maxTries?: number;
  /** Limit of one try. Default 5,000. */
  readonly sendTimeoutMs?: number;
}

/** How much a reporter has done; for tests and for the curious. */
export interface ServiceReporterStatus {
  readonly queued: number;
  readonly sent: number;
  readonly dropped: number;
  /** It has given up (or was told to) and drops everything from now on. */
  readonly isStopped: boolean;
}

/** The most that the service takes in one request. */
const maxBatchEvents = 100;

/** After this many batches in a row that nobody took, reporting ends for good. */
const maxLostBatches = 3;

/**
 * Reports the client's life cycle and errors to the service it talks to: never data, prompts or keys. Events are queued (bounded),
 * redacted, and sent in batches in the background. No method throws, rejects or makes a caller wait, but for `flush` and `close`, which
 * wait no longer than told. A service that cannot be reached is tried a bounded number of times, then left alone.
 *
 * One reporter belongs to one session, and to whoever made it: closing it touches no other.
 */
export class ServiceReporter implements AsyncDisposable {
  readonly #settings: ServiceReporterSettings;
  readonly #clock: Clock;
  readonly #queue: EventQueue<TelemetryEvent>;
  readonly #delivery: Delivery;
  readonly #waiters: FlushWaiters;
  readonly #errors = errorReport('ServiceReporter');
  readonly #createdAtMs: number;
  readonly #batchEvents: number;
  #nextIndex = 0;
  #accepted = 0;
  #finished = 0;
  #sent = 0;
  #dropped = 0;
  #lostBatches = 0;
  #isStarted = false;
  #isStopped: boolean;
  #isRunning = false;
  #timer: unknown;
  #closing: Promise<void> | undefined;

  constructor(options: ServiceReporterOptions) {
    this.#settings = options;
    this.#clock = options.clock ?? systemClock;
    this.#isStopped = options.enabled === false;
    this.#queue = new EventQueue(options.maxQueuedEvents ?? 10_000);
    this.#waiters = new FlushWaiters(this.#clock);
    this.#createdAtMs = this.#clock.now();
    const asked = options.maxBatchEvents ?? maxBatchEvents;
    // Written this way round for NaN: an empty batch takes nothing out of the queue and would be sent for ever.
    this.#batchEvents = asked >= 1 ? Math.min(asked, maxBatchEvents) : 1;
    const sendTimeoutMs = options.sendTimeoutMs ?? 5_000;
    this.#delivery = new Delivery({
      send: 'send' in options ? options.send : sendOver(options.http, sendTimeoutMs),
      clock: this.#clock,
      random: options.random ?? Math.random,
      maxTries: options.maxTries ?? 5,
      sendTimeoutMs,
    });
  }

  /** What has become of the events so far. */
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
   * Reports an error that leaves a public method, and starts sending. With `fatal` the end of the session is reported too, as the
   * reference client does for every failed operation. The caller does not wait.
   */
  capture(error: unknown, options: { readonly fatal?: boolean; readonly severity?: ReportSeverity } = {}): void {
    this.#guard(() => {
      const reports: Report[] = [exceptionReport(error, options.severity)];
      if (options.fatal === true && !this.#isSessionless()) {
        reports.push({ kind: 'SESSION_END', duration: sessionDuration(this.#clock.now() - this.#createdAtMs) });
      }
      this.#enqueue(reports);
      this.#wake();
    });
  }

  /** Reports anything else. It goes out with the next batch. */
  event(report: Omit<GenericReport, 'kind'>): void {
    this.#enqueue([{ kind: 'GENERIC_EVENT', ...report }]);
  }

  /**
   * Sends what is queued now. Resolves `true` when all of it was delivered or given up, `false` when the time (default 30,000 ms) ran out.
   * Never rejects.
   */
  flush(options: { readonly timeoutMs?: number } = {}): Promise<boolean> {
    const flushed = this.#waiters.wait(this.#accepted, options.timeoutMs ?? 30_000);
    this.#wake();
    return flushed;
  }

  /** Sends what is queued, within `timeoutMs` (default 5,000), then stops for good. Idempotent; never rejects. */
  close(options: { readonly timeoutMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(options.timeoutMs ?? 5_000);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(timeoutMs: number): Promise<void> {
    this.#delivery.hurry();
    const flushed = this.flush({ timeoutMs });
    // Accepts nothing more, but goes on sending what it has.
    this.#isStopped = true;
    await flushed;
    this.#delivery.abort();
    this.#dropAll();
  }

  #enqueue(reports: readonly Report[]): void {
    this.#guard(() => {
      if (this.#isStopped) {
        this.#dropped += reports.length;
        return;
      }
      const timestamp = new Date(this.#clock.now()).toISOString();
      const events = reports.map((report) =>
        telemetryEvent(report, { eventId: randomUUID(), eventSessionIndex: this.#nextIndex++, timestamp }),
      );
      if (!this.#queue.push(events)) {
        this.#dropped += events.length;
        return;
      }
      this.#accepted += events.length;
      if (!this.#isRunning) this.#timer ??= this.#clock.setTimeout(() => this.#wake(), this.#settings.flushIntervalMs ?? 10_000);
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
      const outcome = await this.#delivery.deliver({
        events: [...events],
        platform: platformName(),
        sdkVersion: this.#settings.sdkVersion,
        sessionId: this.#settings.sessionId,
        processUuid: processUuid(),
      });
      // The queue may have been emptied by close() in the meantime.
      const removed = this.#queue.remove(events.length);
      this.#finished += removed;
      if (outcome === 'sent') this.#sent += removed;
      else this.#dropped += removed;
      this.#lostBatches = outcome === 'sent' ? 0 : this.#lostBatches + 1;
      if (outcome === 'refused' || this.#lostBatches >= maxLostBatches) this.#stop();
      this.#waiters.advance(this.#finished);
    }
    this.#isRunning = false;
  }

  #stop(): void {
    this.#isStopped = true;
    this.#dropAll();
  }

  #dropAll(): void {
    this.#dropped += this.#queue.remove(this.#queue.size);
    this.#waiters.advance(Number.POSITIVE_INFINITY);
  }

  #isSessionless(): boolean {
    return this.#settings.sessionId.startsWith('sessionless-');
  }

  /** Whatever goes wrong in here is ours, and stays here. */
  #guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#errors.record(error);
    }
  }
}

/** The pause between tries is the reporter's own, so the HTTP layer must not add its own tries. */
function sendOver(http: HttpClient, timeoutMs: number): SendBatch {
  const { method, path, pool } = endpoints.telemetry;
  return async (batch, signal) =>
    http.request({
      method,
      path,
      pool,
      body: telemetryRequest.encode(batch),
      schema: telemetryResponse,
      maxRetries: 0,
      attemptTimeoutMs: timeoutMs,
      signal,
      requestType: 'Telemetry',
    });
}
