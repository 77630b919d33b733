import type { LineLevel } from '../events/catalogue.js';
import type { EventFieldValues } from '../events/pick-fields.js';

/** One method of a sink. If it returns a promise that rejects, the rejection is counted and never unhandled. */
export type LogMethod = (message: string, fields: EventFieldValues) => unknown;

/** Where log lines go: `console`, or anything else with these four methods. */
export type LogSink = Readonly<Record<LineLevel, LogMethod>>;

/** A logger that takes the fields first, as pino and bunyan do. */
export type FieldsFirstLogger = Readonly<Record<LineLevel, (fields: object, message: string) => unknown>>;

/** Turns a pino or bunyan logger, which takes the fields before the message, into a sink. */
export function pinoSink(logger: FieldsFirstLogger): LogSink {
  return {
    debug: (message, fields) => logger.debug(fields, message),
    info: (message, fields) => logger.info(fields, message),
    warn: (message, fields) => logger.warn(fields, message),
    error: (message, fields) => logger.error(fields, message),
  };
}
