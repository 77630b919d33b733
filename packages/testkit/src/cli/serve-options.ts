import { InvalidArgumentError } from 'commander';
import { DIALECTS, type DialectName } from '../dialects/presets.js';

/** The options of the `serve` command. */
export interface ServeOptions {
  readonly port: number;
  readonly host: string;
  readonly engine: 'learn' | 'canned';
  readonly dialect: DialectName;
  readonly model: readonly string[];
  readonly chaos?: number | undefined;
  readonly chaosRate: number;
  readonly state?: string | undefined;
  readonly log: boolean;
}

/** A TCP port. */
export function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('It must be a whole number from 0 to 65535.');
  return port;
}

/** A whole number. */
export function seedOf(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** A share from 0 to 1. */
export function rateOf(text: string): number {
  const rate = Number(text);
  if (text.trim() === '' || !(rate >= 0 && rate <= 1)) throw new InvalidArgumentError('It must be a number from 0 to 1.');
  return rate;
}

/** The name of a dialect. */
export function dialectOf(text: string): DialectName {
  if (!Object.hasOwn(DIALECTS, text)) throw new InvalidArgumentError(`Choose one of ${Object.keys(DIALECTS).join(', ')}.`);
  return text as DialectName;
}

/** The name of an engine. */
export function engineOf(text: string): 'learn' | 'canned' {
  if (text !== 'learn' && text !== 'canned') throw new InvalidArgumentError('Choose learn or canned.');
  return text;
}
