import type { Clock } from '@tinkex/http';

/** Why a future failed. */
export interface FutureFailure {
  readonly error: string;
  readonly category: 'user' | 'server' | 'unknown';
}

/** The state of a future. */
export type FutureOutcome =
  | { readonly state: 'pending' }
  | { readonly state: 'resolved'; readonly value: unknown }
  | { readonly state: 'failed'; readonly failure: FutureFailure };

const PENDING: FutureOutcome = { state: 'pending' };
const DROPPED: FutureOutcome = { state: 'resolved', value: undefined };

/** The pending or finished result of one submitted operation. */
export class FutureRecord {
  readonly requestId: string;
  /** The type of the operation, which decides how the result is encoded. Polls name it in `X-Tinker-Request-Type`. */
  readonly requestType: string;
  /** How often its operation ran: once, unless the server is broken. */
  runs = 0;
  /** Whether a reply has carried the result. */
  isDelivered = false;
  /** The last encoded result, so that repeated polls do not encode it again. */
  encoded: { readonly contentType: string; readonly body: string | Uint8Array } | undefined;
  /** Called when the operation ends, or the future expires before. */
  onEnd: ((state: 'finished' | 'failed') => void) | undefined;
  #outcome: FutureOutcome = PENDING;
  readonly #waiters = new Set<() => void>();

  constructor(requestId: string, requestType: string) {
    this.requestId = requestId;
    this.requestType = requestType;
  }

  get outcome(): FutureOutcome {
    return this.#outcome;
  }

  settle(outcome: FutureOutcome): void {
    this.#outcome = outcome;
    this.end(outcome.state === 'resolved' ? 'finished' : 'failed');
    this.wake();
  }

  /** Reports the end, once. */
  end(state: 'finished' | 'failed'): void {
    const { onEnd } = this;
    this.onEnd = undefined;
    onEnd?.(state);
  }

  /** Keeps only the encoded result. */
  dropValue(): void {
    this.#outcome = DROPPED;
  }

  /** Ends every held poll now, whatever the outcome. */
  wake(): void {
    for (const waiter of [...this.#waiters]) waiter();
  }

  /** Resolves when the future settles, is woken, `holdMs` have passed, or the client went away. */
  wait(holdMs: number, clock: Clock, onAbort?: (listener: () => void) => () => void): Promise<void> {
    return new Promise((resolve) => {
      let stopListening: (() => void) | undefined;
      const finish = (): void => {
        clock.clearTimeout(timer);
        this.#waiters.delete(finish);
        stopListening?.();
        resolve();
      };
      const timer = clock.setTimeout(finish, holdMs);
      this.#waiters.add(finish);
      stopListening = onAbort?.(finish);
    });
  }
}
