import diagnostics, { type Channel } from 'node:diagnostics_channel';
import type { TinkexEventName, TinkexEvents } from '@tinkex/types';

const channels = new Map<TinkexEventName, Channel>();

function channel(name: TinkexEventName): Channel {
  let found = channels.get(name);
  if (found === undefined) {
    found = diagnostics.channel(name);
    channels.set(name, found);
  }
  return found;
}

/** True when somebody listens. Ask before building an event: without listeners an event must cost nothing. */
export function hasSubscribers(name: TinkexEventName): boolean {
  return channel(name).hasSubscribers;
}

/** Publishes an event on the channel of its name; nothing happens when nobody listens. */
export function publish<Name extends TinkexEventName>(name: Name, event: TinkexEvents[Name]): void {
  const target = channel(name);
  if (target.hasSubscribers) target.publish(event);
}

/**
 * Listens to one kind of event in this process.
 *
 * @param onEvent - May throw: what it throws is dropped, so that watching never changes what is watched.
 * @returns Ends the subscription. Idempotent.
 */
export function subscribe<Name extends TinkexEventName>(name: Name, onEvent: (event: TinkexEvents[Name]) => void): () => void {
  const listener = (message: unknown): void => {
    try {
      onEvent(message as TinkexEvents[Name]);
    } catch {
      // diagnostics_channel would turn this into an uncaught exception, and with it end the process of the watched program.
    }
  };
  diagnostics.subscribe(name, listener);
  return () => {
    diagnostics.unsubscribe(name, listener);
  };
}
