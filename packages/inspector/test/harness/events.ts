import type { Subscribe } from '@tinkex/telemetry';
import type { TinkexEventName, TinkexEvents } from '@tinkex/types';

/** A source of events that a test publishes itself. */
export class Events {
  readonly #listeners = new Map<TinkexEventName, (event: never) => void>();

  readonly subscribe: Subscribe = (name, listener) => {
    this.#listeners.set(name, listener as (event: never) => void);
    return () => this.#listeners.delete(name);
  };

  publish<Name extends TinkexEventName>(name: Name, fields: Partial<TinkexEvents[Name]>): void {
    this.#listeners.get(name)?.({ clientId: 'c', baseUrl: 'http://server', ...fields } as never);
  }
}
