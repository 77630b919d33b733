import { randomUUID } from 'node:crypto';
import type { ClientReport, ServiceReporter } from '@tinkex/telemetry/reporter';
import { AbortedError, RateLimitError, TimeoutError } from '@tinkex/types';
import { endpoints } from '@tinkex/types/wire';

/** Makes a reporter; undefined when there is nobody to report to. */
export type MakeReporter = (sessionId: string) => ServiceReporter | undefined;

/**
 * Tells the service what went wrong in one client. Its session has a reporter, as has what needs no session (lists, capabilities): such a failure
 * says nothing about the session. Each failure is told once, however many layers it passes through.
 */
export class FailureReports {
  readonly #make: MakeReporter;
  readonly #told = new WeakSet<object>();
  #session: ServiceReporter | undefined;
  #sessionless: ServiceReporter | undefined;
  #isClosed = false;

  constructor(make: MakeReporter) {
    this.#make = make;
  }

  /** Tells the start of the session, and from now on its failures. */
  startSession(sessionId: string): void {
    this.#session = this.#make(sessionId);
    this.#session?.start();
  }

  /** A failed poll or a repeated call. */
  event(report: ClientReport): void {
    (this.#session ?? this.#withoutSession())?.event(report);
  }

  /** A failure that leaves an operation of the session. As in the reference client each is followed by the end of the session. */
  captureInSession(error: unknown): void {
    // A copy of another process's sampling client has no session here.
    this.#capture(error, () => this.#session ?? this.#withoutSession());
  }

  /** A failure that leaves a call which needs no session. */
  captureWithoutSession(error: unknown): void {
    this.#capture(error, () => this.#withoutSession());
  }

  /** Lets the last reports go out, within the time given. */
  async close(options: { readonly timeoutMs: number }): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#session?.close(options), this.#sessionless?.close(options)]);
  }

  #capture(error: unknown, reporter: () => ServiceReporter | undefined): void {
    if (isNoNews(error) || this.#wasTold(error)) return;
    reporter()?.capture(error, { fatal: true });
  }

  #wasTold(error: unknown): boolean {
    if (typeof error !== 'object' || error === null) return false;
    if (this.#told.has(error)) return true;
    this.#told.add(error);
    return false;
  }

  #withoutSession(): ServiceReporter | undefined {
    if (this.#isClosed) return undefined;
    this.#sessionless ??= this.#make(`sessionless-${randomUUID()}`);
    return this.#sessionless;
  }
}

/** What the caller ended, by a signal or a time limit, is no failure; and the service knows best whose samples it holds back. */
function isNoNews(error: unknown): boolean {
  if (TimeoutError.isInstance(error)) return error.phase === 'total';
  return AbortedError.isInstance(error) || (RateLimitError.isInstance(error) && error.path === endpoints.asample.path);
}
