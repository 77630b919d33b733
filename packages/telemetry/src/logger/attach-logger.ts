import type { SamplingCallEvent, TinkexEventName, TinkexEvents } from '@tinkex/types';
import { type AttachOptions, attach, type EventHandlers } from '../attach/attach.js';
import type { Attachment } from '../attach/attachment.js';
import { eventNames } from '../events/event-fields.js';
import { pickFields } from '../events/pick-fields.js';
import { failureLevels, isLoud, type LineLevel, type LogLevel, usualLevels } from './log-level.js';
import { logMessage } from './log-message.js';
import type { LogSink } from './log-sink.js';

/** Options of {@link attachLogger}. */
export interface LoggerOptions extends AttachOptions {
  /** The quietest lines to write. Default `'info'`. Events that are never loud enough are not subscribed to. */
  readonly level?: LogLevel;
  /** Where lines go. Default: the global `console`. */
  readonly sink?: LogSink;
  /** Other levels for some events; `'off'` silences an event. A failure is still raised to its own level unless the event is off. */
  readonly levels?: Readonly<Partial<Record<TinkexEventName, LogLevel>>>;
  /**
   * Also write prompts and sampled tokens, when the client publishes them. Default `false`. Both sides have to be told: content is
   * never in an event by default.
   */
  readonly includeContent?: boolean;
  /** With an asynchronous sink: how many unfinished writes are allowed before further lines are dropped. Default 1,000. */
  readonly maxPendingWrites?: number;
}

/** A logger that is attached. */
export interface LoggerAttachment extends Attachment {
  /** Lines handed to the sink. */
  readonly lines: number;
  /** Lines dropped because an asynchronous sink could not keep up. */
  readonly dropped: number;
}

/**
 * Writes the SDK's events as log lines: a short message, and the event's allow-listed fields as an object.
 *
 * A sink that throws or rejects changes nothing for the application: the first failure becomes a process warning, all are counted in
 * `errors`. A synchronous sink runs inside the SDK's call, so keep it quick; an asynchronous one may be slow, lines are dropped (and
 * counted) rather than piled up.
 *
 * @throws ConfigurationError if the `baseUrl` to filter by is no URL.
 */
export function attachLogger(options: LoggerOptions = {}): LoggerAttachment {
  const { level = 'info', sink = globalThis.console, levels = {}, includeContent = false, maxPendingWrites = 1_000 } = options;
  let lines = 0;
  let dropped = 0;
  let pending = 0;

  const write = <Name extends TinkexEventName>(lineLevel: LineLevel, name: Name, event: TinkexEvents[Name]): void => {
    if (pending >= maxPendingWrites) {
      dropped += 1;
      return;
    }
    const fields = pickFields(name, event);
    fields['event'] = name;
    if (includeContent && name === 'tinkex:sampling:call') addContent(fields, event as SamplingCallEvent);
    lines += 1;
    const written = sink[lineLevel](logMessage(name, fields), fields);
    if (isThenable(written)) {
      pending += 1;
      written.then(settled, (error: unknown) => {
        settled();
        attachment.recordError(error);
      });
    }
  };
  const settled = (): void => {
    pending -= 1;
  };

  const handlers: { -readonly [Name in keyof EventHandlers]: EventHandlers[Name] } = {};
  for (const name of eventNames) listen(name);
  function listen<Name extends TinkexEventName>(name: Name): void {
    const usual: LogLevel = levels[name] ?? usualLevels[name];
    if (usual === 'off') return;
    const failure = failureLevels[name] as { level: LineLevel; isFailure(event: TinkexEvents[Name]): boolean } | undefined;
    const isUsuallyLoud = isLoud(usual, level);
    const isFailureLoud = failure !== undefined && isLoud(failure.level, level);
    if (!isUsuallyLoud && !isFailureLoud) return;
    const handle = (event: TinkexEvents[Name]): void => {
      if (isFailureLoud && failure.isFailure(event)) write(failure.level, name, event);
      else if (isUsuallyLoud) write(usual, name, event);
    };
    handlers[name] = handle as NonNullable<EventHandlers[Name]>;
  }

  const attachment = attach('attachLogger', handlers, options);
  return {
    detach: attachment.detach,
    get errors() {
      return attachment.errors;
    },
    get lines() {
      return lines;
    },
    get dropped() {
      return dropped;
    },
    [Symbol.dispose]: attachment.detach,
  };
}

function addContent(fields: Record<string, unknown>, event: SamplingCallEvent): void {
  if (event.content === undefined) return;
  fields['content'] = { prompt: Array.from(event.content.prompt), sequences: event.content.sequences.map((tokens) => Array.from(tokens)) };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
