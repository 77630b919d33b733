import type { EventSource } from '@tinkex/types';
import type { Clock } from '../clock/clock.js';
import type { Call, Reply } from '../pipeline/call.js';
import type { Stage } from '../pipeline/stage.js';
import { AttemptEvent } from './attempt-event.js';
import { hasSubscribers, publish } from './channels.js';

/** Who the events are about, asked anew for each event: a client may get its session late. */
export type EventSourceOf = () => EventSource;

/** Publishes the start and the end of each attempt, on one object. Without subscribers it only looks whether there are any. */
export function diagnosticsStage(clock: Clock, source: EventSourceOf): Stage<Call, Reply> {
  return (call, next) => {
    if (!isWatched()) return next(call);
    const event = new AttemptEvent(call, clock.now(), source());
    publish('tinkex:http:request:start', event);
    return next(call).then(
      (reply) => {
        if (hasSubscribers('tinkex:http:request:stop')) {
          event.answered(reply, clock.now());
          publish('tinkex:http:request:stop', event);
        }
        return reply;
      },
      (error: unknown) => {
        event.failed(error, clock.now());
        publish('tinkex:http:request:exception', event);
        throw error;
      },
    );
  };
}

function isWatched(): boolean {
  return (
    hasSubscribers('tinkex:http:request:start') ||
    hasSubscribers('tinkex:http:request:stop') ||
    hasSubscribers('tinkex:http:request:exception')
  );
}
