import type { RunRecoveryEvent, TinkexEventName, TinkexEvents } from '@tinkex/types';
import { EVENT_NAMES } from './catalogue.js';

/** One handler per event. A consumer does not subscribe to events without a handler, so they cost nothing. */
export type EventHandlers = { readonly [Name in TinkexEventName]?: (event: TinkexEvents[Name]) => void };

/** The fields of all recovery events; `errorCode` is set on those that report a failure. */
type AnyRecoveryEvent = RunRecoveryEvent & { readonly errorCode?: string };

const RECOVERY_PREFIX = 'tinkex:recovery:';

/** One handler for every `tinkex:recovery:*` event. `kind` is the last part of the event's name. */
export function recoveryHandlers(handle: (kind: string, event: AnyRecoveryEvent) => void): EventHandlers {
  const names = EVENT_NAMES.filter((name) => name.startsWith(RECOVERY_PREFIX));
  return Object.fromEntries(names.map((name) => [name, (event: AnyRecoveryEvent) => handle(name.slice(RECOVERY_PREFIX.length), event)]));
}
