import { subscribe as subscribeToChannel } from '@tinkex/http';
import type { EventSource, TinkexEventName, TinkexEvents } from '@tinkex/types';
import type { EventHandlers } from '../events/event-handlers.js';
import { ErrorCounter } from './error-counter.js';
import { type SourceFilter, sourcePredicate } from './source-filter.js';

/** A consumer that is attached to the SDK's events. */
export interface Attachment {
  /** Stops listening, immediately and for good. Idempotent; never throws. */
  detach(): void;
  /** Errors inside the consumer, such as a sink that throws or a write that rejects. They never reach the application. */
  readonly errors: number;
  /** Same as {@link Attachment.detach}. */
  [Symbol.dispose](): void;
}

/** A function like `subscribe` of `@tinkex/http`. It returns a function that ends the subscription. */
export type Subscribe = <Name extends TinkexEventName>(name: Name, listener: (event: TinkexEvents[Name]) => void) => () => void;

/** Options of every `attach…` function. */
export interface AttachOptions extends SourceFilter {
  /** Receives every error of the consumer. Default: the first error becomes a process warning, the rest are counted. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Where events come from. Default: the diagnostics channels of this process. */
  readonly subscribe?: Subscribe | undefined;
}

/** Listens to events and keeps every error of its handlers and its filter away from the application: errors are counted and reported. */
export class Consumer implements Attachment {
  readonly #errors: ErrorCounter;
  readonly #accepts: ((source: EventSource) => boolean) | undefined;
  readonly #subscribe: Subscribe;
  readonly #unsubscribes: (() => void)[] = [];
  #isAttached = true;

  /** @throws ConfigurationError if the `baseUrl` to filter by is not a URL. */
  constructor(name: string, { onError, subscribe = subscribeToChannel, ...filter }: AttachOptions = {}) {
    this.#errors = new ErrorCounter(name, onError);
    this.#accepts = sourcePredicate(filter);
    this.#subscribe = subscribe;
  }

  get errors(): number {
    return this.#errors.count;
  }

  /** Counts and reports an error that happened outside a handler, for example in an asynchronous write. */
  recordError(error: unknown): void {
    this.#errors.record(error);
  }

  listen(handlers: EventHandlers): void {
    for (const name of Object.keys(handlers) as TinkexEventName[]) {
      this.#listenTo(name, handlers[name] as (event: TinkexEvents[TinkexEventName]) => void);
    }
  }

  detach(): void {
    this.#isAttached = false;
    for (const unsubscribe of this.#unsubscribes.splice(0)) unsubscribe();
  }

  [Symbol.dispose](): void {
    this.detach();
  }

  #listenTo<Name extends TinkexEventName>(name: Name, handle: (event: TinkexEvents[Name]) => void): void {
    const unsubscribe = this.#subscribe(name, (event) => {
      // diagnostics_channel iterates over a copy of its subscribers: an event may still arrive after detach().
      if (!this.#isAttached) return;
      try {
        if (this.#accepts === undefined || this.#accepts(event)) handle(event);
      } catch (error) {
        this.recordError(error);
      }
    });
    this.#unsubscribes.push(unsubscribe);
  }
}
