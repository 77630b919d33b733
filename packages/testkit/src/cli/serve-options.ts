import { InvalidArgumentError } from 'commander';
import { DIALECTS, type DialectName } from '../dialects/presets.js';
import type { Durability } from '../persistence/state-store.js';

/** Flags that the server sends to clients, by name. */
export type Flags = Readonly<Record<string, boolean | number | string>>;

/** The options of the `serve` command. */
export interface ServeOptions {
  readonly port: number;
  readonly host: string;
  readonly allowHost?: readonly string[] | undefined;
  readonly engine: 'learn' | 'canned';
  readonly dialect: DialectName;
  readonly model: readonly string[];
  readonly anyModel: boolean;
  readonly samplingSeed: number;
  readonly sampledLogprobs: 'raw' | 'tempered';
  readonly flag?: Flags | undefined;
  readonly strict: boolean;
  readonly chaos?: number | undefined;
  readonly chaosRate: number;
  readonly state?: string | undefined;
  readonly durability?: Durability | undefined;
  /** The upstream and the folder. */
  readonly record?: readonly string[] | undefined;
  readonly replay?: string | undefined;
  readonly recordOnMiss?: string | undefined;
  /** The token, or true for a random one. */
  readonly control?: string | true | undefined;
  readonly controlRemote?: boolean | undefined;
  readonly virtualClock?: boolean | undefined;
  readonly untilStdinEnds?: boolean | undefined;
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

/** Adds a flag, `NAME` or `NAME=VALUE`, to those before it. Without a value it is on. */
export function flagOf(text: string, before: Flags = {}): Flags {
  const [, name, value] = /^([a-z][a-z0-9_]*)(?:=(.*))?$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('Write it as NAME or NAME=VALUE.');
  return { ...before, [name]: flagValue(value) };
}

function flagValue(text: string | undefined): boolean | number | string {
  if (text === undefined || text === 'true') return true;
  if (text === 'false') return false;
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
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
