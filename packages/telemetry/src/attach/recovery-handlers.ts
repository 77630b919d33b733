import type { RunRecoveryEvent } from '@tinkex/types';
import type { EventHandlers } from './attach.js';

/** What all events of recovery monitors have; `errorCode` on those that tell of a failure. */
export type AnyRecoveryEvent = RunRecoveryEvent & { readonly errorCode?: string };

/** One handler for every `tinkex:recovery:*` event. `kind` is the last part of the event's name. */
export function recoveryHandlers(handle: (kind: string, event: AnyRecoveryEvent) => void): EventHandlers {
  return {
    'tinkex:recovery:broken': (event) => handle('broken', event),
    'tinkex:recovery:attempt': (event) => handle('attempt', event),
    'tinkex:recovery:attempt_failed': (event) => handle('attempt_failed', event),
    'tinkex:recovery:recovered': (event) => handle('recovered', event),
    'tinkex:recovery:given_up': (event) => handle('given_up', event),
    'tinkex:recovery:watch_failed': (event) => handle('watch_failed', event),
  };
}
