import type { TinkexEventName, TinkexEvents } from '@tinkex/types';

/** How loud a log is, from everything to nothing. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'off';

/** A level that a line can have. */
export type LineLevel = Exclude<LogLevel, 'off'>;

const ranks: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3, off: 4 };

/** Whether a line of level `line` is written by a log of level `log`. */
export function isLoud(line: LogLevel, log: LogLevel): boolean {
  return line !== 'off' && ranks[line] >= ranks[log];
}

/** The level of each event when it tells of nothing wrong. */
export const usualLevels: { readonly [Name in TinkexEventName]: LineLevel } = {
  'tinkex:http:request:start': 'debug',
  'tinkex:http:request:stop': 'debug',
  'tinkex:http:request:exception': 'warn',
  'tinkex:http:request:retry': 'warn',
  'tinkex:future:poll': 'debug',
  'tinkex:future:settled': 'debug',
  'tinkex:future:unobserved_failure': 'error',
  'tinkex:queue:state_change': 'info',
  'tinkex:session:start': 'info',
  'tinkex:session:heartbeat': 'debug',
  'tinkex:session:heartbeat_missed': 'warn',
  'tinkex:session:end': 'info',
  'tinkex:rate_limit:set': 'warn',
  'tinkex:rate_limit:cleared': 'info',
  'tinkex:rate_limit:wait': 'debug',
  'tinkex:chunk:submit': 'debug',
  'tinkex:training:operation': 'info',
  'tinkex:sampling:call': 'info',
  'tinkex:checkpoint:save': 'info',
  'tinkex:checkpoint:load': 'info',
  'tinkex:checkpoint:download': 'debug',
  'tinkex:recovery:broken': 'warn',
  'tinkex:recovery:attempt': 'info',
  'tinkex:recovery:attempt_failed': 'warn',
  'tinkex:recovery:recovered': 'info',
  'tinkex:recovery:given_up': 'error',
  'tinkex:recovery:watch_failed': 'warn',
};

/** Events that can tell of a failure: the level they rise to, and when. Others keep their usual level. */
export const failureLevels: { readonly [Name in TinkexEventName]?: { level: LineLevel; isFailure(event: TinkexEvents[Name]): boolean } } = {
  'tinkex:http:request:stop': { level: 'warn', isFailure: ({ status }) => status !== undefined && status >= 400 },
  'tinkex:future:settled': { level: 'warn', isFailure: ({ outcome }) => outcome === 'rejected' },
  'tinkex:sampling:call': { level: 'warn', isFailure: ({ errorCode }) => errorCode !== undefined },
};
