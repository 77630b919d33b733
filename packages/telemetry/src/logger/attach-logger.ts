import type { SamplingCallEvent, TinkexEventName, TinkexEvents } from '@tinkex/types';
import { type Attachment, type AttachOptions, Consumer } from '../attach/consumer.js';
import { EVENT_NAMES, EVENTS, type LineLevel, type LogLevel } from '../events/catalogue.js';
import { type EventFieldValues, pickFields } from '../events/pick-fields.js';
import { logMessage } from './log-message.js';
import type { LogSink } from './log-sink.js';

/** Options of {@link attachLogger}. */
export interface LoggerOptions extends AttachOptions {
  /** The lowest level to write. Default `'info'`. The logger does not subscribe to events that never reach this level. */
  readonly level?: LogLevel | undefined;
  /** Where lines go. Default: the global `console`. */
  readonly sink?: LogSink | undefined;
  /** Other levels for some events; `'off'` silences an event. Failures keep their own level unless the event is off. */
  readonly levels?: Readonly<Partial<Record<TinkexEventName, LogLevel>>> | undefined;
  /** Also write prompts and sampled tokens. Default `false`. The client must publish them too (`publishContent`), which it does not by default. */
  readonly includeContent?: boolean | undefined;
  /** For asynchronous sinks: how many unfinished writes are allowed before further lines are dropped. Default 1,000. */
  readonly maxPendingWrites?: number | undefined;
}

/** An attached logger. */
export interface LoggerAttachment extends Attachment {
  /** Lines handed to the sink. */
  readonly lines: number;
  /** Lines dropped because an asynchronous sink could not keep up. */
  readonly dropped: number;
}

/**
 * Writes the SDK's events as log lines: a short message, and an object with those fields of the event that may leave the process.
 *
 * A sink that throws or rejects does not affect the application: the first failure becomes a process warning, and `errors` counts all of
 * them. A synchronous sink runs inside the SDK's call, so keep it fast. An asynchronous sink may be slow: lines are dropped and counted
 * rather than piled up.
 *
 * @throws ConfigurationError if the `baseUrl` to filter by is not a URL.
 */
export function attachLogger(options: LoggerOptions = {}): LoggerAttachment {
  return new Logger(options);
}

const LEVEL_RANKS: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3, off: 4 };

class Logger extends Consumer implements LoggerAttachment {
  readonly #options: LoggerOptions;
  readonly #sink: LogSink;
  readonly #maxPendingWrites: number;
  #pendingWrites = 0;
  lines = 0;
  dropped = 0;

  constructor(options: LoggerOptions) {
    super('attachLogger', options);
    this.#options = options;
    this.#sink = options.sink ?? globalThis.console;
    this.#maxPendingWrites = options.maxPendingWrites ?? 1_000;
    for (const name of EVENT_NAMES) this.#logEvent(name);
  }

  #logEvent<Name extends TinkexEventName>(name: Name): void {
    const { level = 'info', levels } = this.#options;
    const { level: usualLevel, failure } = EVENTS[name];
    const chosen: LogLevel = levels?.[name] ?? usualLevel;
    if (chosen === 'off') return;
    const logsEvent = LEVEL_RANKS[chosen] >= LEVEL_RANKS[level];
    const logsFailure = failure !== undefined && LEVEL_RANKS[failure.level] >= LEVEL_RANKS[level];
    if (!logsEvent && !logsFailure) return;
    this.listen({
      [name]: (event: TinkexEvents[Name]): void => {
        if (logsFailure && failure.isFailure(event)) this.#write(failure.level, name, event);
        else if (logsEvent) this.#write(chosen, name, event);
      },
    });
  }

  #write<Name extends TinkexEventName>(level: LineLevel, name: Name, event: TinkexEvents[Name]): void {
    if (this.#pendingWrites >= this.#maxPendingWrites) {
      this.dropped += 1;
      return;
    }
    const fields = pickFields(name, event);
    fields['event'] = name;
    if (this.#options.includeContent && name === 'tinkex:sampling:call') addContent(fields, event as SamplingCallEvent);
    this.lines += 1;
    const written = this.#sink[level](logMessage(name, fields), fields);
    if (isThenable(written)) this.#await(written);
  }

  #await(write: PromiseLike<unknown>): void {
    const end = (): void => {
      this.#pendingWrites -= 1;
    };
    this.#pendingWrites += 1;
    write.then(end, (error: unknown) => {
      end();
      this.recordError(error);
    });
  }
}

function addContent(fields: EventFieldValues, { content }: SamplingCallEvent): void {
  if (content === undefined) return;
  fields['content'] = { prompt: Array.from(content.prompt), sequences: content.sequences.map((tokens) => Array.from(tokens)) };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
