import type { EventHandlers } from '../events/event-handlers.js';
import { type Attachment, type AttachOptions, Consumer } from './consumer.js';

/**
 * Calls your own handlers, each with the events of its name. Like every consumer it cannot hurt the application: an error of a handler is counted and reported, and
 * events without a handler cost nothing. Handlers receive the event as it was published; use `pickFields` before you send one elsewhere.
 *
 * @throws ConfigurationError if the `baseUrl` to filter by is not a URL.
 *
 * @example
 * ```ts
 * import { attachHandlers } from '@tinkex/telemetry';
 *
 * using attachment = attachHandlers({
 *   'tinkex:queue:state_change': ({ to, reason }) => console.log(`The queue is ${to}: ${reason}`),
 * });
 * ```
 */
export function attachHandlers(handlers: EventHandlers, options: AttachOptions = {}): Attachment {
  const consumer = new Consumer('attachHandlers', options);
  consumer.listen(handlers);
  return consumer;
}
