import { subscribe as subscribeToChannel } from '@tinkex/http';
import type { TinkexEventName, TinkexEvents } from '@tinkex/types';
import type { Attachment } from './attachment.js';
import { errorReport } from './error-report.js';
import { type SourceFilter, sourcePredicate } from './source-filter.js';

/** A function like `subscribe` of `@tinkex/http`: returns what ends the subscription. */
export type Subscribe = <Name extends TinkexEventName>(name: Name, listener: (event: TinkexEvents[Name]) => void) => () => void;

/** Options that every `attach…` function takes. */
export interface AttachOptions extends SourceFilter {
  /** Gets every error of the consumer. Default: the first becomes a process warning, the rest are counted. */
  readonly onError?: (error: unknown) => void;
  /** Where events come from. Default: the channels of this process. */
  readonly subscribe?: Subscribe;
}

/** What a consumer does for each event it wants; events without a handler are not subscribed to and cost nothing. */
export type EventHandlers = { readonly [Name in TinkexEventName]?: (event: TinkexEvents[Name]) => void };

/** An attachment whose consumer can add errors that happen after an event was handled. */
export interface OpenAttachment extends Attachment {
  recordError(error: unknown): void;
}

/**
 * Subscribes the handlers. No error of a handler or of the filter gets out: it is counted, reported, and the application goes on.
 * A misspelt base URL in the filter throws here, at once.
 */
export function attach(consumer: string, handlers: EventHandlers, options: AttachOptions = {}): OpenAttachment {
  const report = errorReport(consumer, options.onError);
  const passes = sourcePredicate(options);
  const subscribe = options.subscribe ?? subscribeToChannel;
  let isAttached = true;
  const guard =
    <Name extends TinkexEventName>(handler: (event: TinkexEvents[Name]) => void) =>
    (event: TinkexEvents[Name]): void => {
      // diagnostics_channel walks a copy of its list: an event may still arrive after detach().
      if (!isAttached) return;
      try {
        if (passes === undefined || passes(event)) handler(event);
      } catch (error) {
        report.record(error);
      }
    };

  const unsubscribes = (Object.keys(handlers) as TinkexEventName[]).map((name) => listen(name));
  function listen<Name extends TinkexEventName>(name: Name): () => void {
    const handler = handlers[name] as ((event: TinkexEvents[Name]) => void) | undefined;
    return handler === undefined ? () => undefined : subscribe(name, guard(handler));
  }

  const detach = (): void => {
    if (!isAttached) return;
    isAttached = false;
    for (const unsubscribe of unsubscribes) unsubscribe();
  };
  return {
    detach,
    get errors() {
      return report.count;
    },
    recordError: (error) => report.record(error),
    [Symbol.dispose]: detach,
  };
}
