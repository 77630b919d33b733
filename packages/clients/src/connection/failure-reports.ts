import { randomUuid } from '@tinkex/http/runtime';
import type { ClientReport, ServiceReporter } from '@tinkex/telemetry/reporter';
import { AbortedError, RateLimitError, TimeoutError } from '@tinkex/types';
import { endpoints } from '@tinkex/types/wire';
import type { FailureReporter } from '../runtime/runtime.js';

/** Creates a reporter; undefined when telemetry is off or the connection has not started. */
export type CreateReporter = (sessionId: string) => ServiceReporter | undefined;

/**
 * Reports the failures of one client to the service. Its session has one reporter, and the calls that need no session (lists, capabilities)
 * have another: their failures say nothing about the session. Each failure is reported once, however many layers it passes through.
 */
export class FailureReports implements FailureReporter {
  readonly #create: CreateReporter;
  readonly #reported = new WeakSet<object>();
  #session: ServiceReporter | undefined;
  #sessionless: ServiceReporter | undefined;
  #isClosed = false;

  constructor(create: CreateReporter) {
    this.#create = create;
  }

  /** Reports the start of the session, and from now on its failures. */
  startSession(sessionId: string): void {
    this.#session = this.#create(sessionId);
    this.#session?.start();
  }

  /** A poll that failed or a call that is retried. */
  event(report: ClientReport): void {
    (this.#session ?? this.#withoutSession())?.event(report);
  }

  /** The error that a call of the session rejects with. As in the reference client, each is followed by the end of the session. */
  capture(error: unknown): void {
    // A copy of another process's sampling client has no session here.
    this.#captureWith(error, () => this.#session ?? this.#withoutSession());
  }

  /** The error of a call that needs no session. */
  captureWithoutSession(error: unknown): void {
    this.#captureWith(error, () => this.#withoutSession());
  }

  /** Sends the last reports, within the given time. */
  async close(options: { readonly timeoutMs: number }): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#session?.close(options), this.#sessionless?.close(options)]);
  }

  #captureWith(error: unknown, reporter: () => ServiceReporter | undefined): void {
    if (isExpected(error) || this.#wasReported(error)) return;
    reporter()?.capture(error, { fatal: true });
  }

  #wasReported(error: unknown): boolean {
    if (typeof error !== 'object' || error === null) return false;
    if (this.#reported.has(error)) return true;
    this.#reported.add(error);
    return false;
  }

  #withoutSession(): ServiceReporter | undefined {
    if (this.#isClosed) return undefined;
    this.#sessionless ??= this.#create(`sessionless-${randomUuid()}`);
    return this.#sessionless;
  }
}

/** What the caller ended, by a signal or a time limit, is not a failure; and the service knows whose samples it holds back. */
function isExpected(error: unknown): boolean {
  if (TimeoutError.isInstance(error)) return error.phase === 'total';
  return AbortedError.isInstance(error) || (RateLimitError.isInstance(error) && error.path === endpoints.asample.path);
}
