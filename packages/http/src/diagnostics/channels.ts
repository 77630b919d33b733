import type { TinkexEventName, TinkexEvents } from '@tinkex/types';
import { findNodeModule } from '../runtime/node-module.js';
import { localChannels } from './local-channels.js';

/** The part of a channel of `node:diagnostics_channel` that is used. */
export interface Channel {
  readonly hasSubscribers: boolean;
  publish(message: unknown): void;
}

const DIAGNOSTICS = findNodeModule('node:diagnostics_channel') ?? localChannels();
const CHANNELS = new Map<TinkexEventName, Channel>();

/** The channel of an event. Node keeps channels by weak references, so it is kept here. */
export function channel(name: TinkexEventName): Channel {
  const found = CHANNELS.get(name) ?? DIAGNOSTICS.channel(name);
  CHANNELS.set(name, found);
  return found;
}

/** True when an event has subscribers. Check it before you build an event: without subscribers an event must cost nothing. */
export function hasSubscribers(name: TinkexEventName): boolean {
  return channel(name).hasSubscribers;
}

/** Publishes an event on the channel of its name. Does nothing without subscribers. */
export function publish<Name extends TinkexEventName>(name: Name, event: TinkexEvents[Name]): void {
  const target = channel(name);
  if (target.hasSubscribers) target.publish(event);
}

/**
 * Subscribes to one kind of event in this process.
 *
 * @param onEvent - What it throws is ignored, so that a subscriber never changes the program it observes.
 * @returns Ends the subscription. Idempotent.
 */
export function subscribe<Name extends TinkexEventName>(name: Name, onEvent: (event: TinkexEvents[Name]) => void): () => void {
  const listener = (message: unknown): void => {
    try {
      onEvent(message as TinkexEvents[Name]);
    } catch {
      // diagnostics_channel would turn this into an uncaught exception, which ends the process.
    }
  };
  DIAGNOSTICS.subscribe(name, listener);
  return () => {
    DIAGNOSTICS.unsubscribe(name, listener);
  };
}
