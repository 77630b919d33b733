import { ConfigurationError } from '@tinkex/types';

/** Which options are numbers of which kind. An option that is undefined is not checked. */
export interface NumberRules<Options> {
  /** Whole numbers from 1 up. */
  readonly countsFromOne?: readonly (keyof Options & string)[] | undefined;
  /** Whole numbers from 0 up. */
  readonly countsFromZero?: readonly (keyof Options & string)[] | undefined;
  /** Numbers above 0. */
  readonly aboveZero?: readonly (keyof Options & string)[] | undefined;
}

/** @throws ConfigurationError that names the first option whose number is out of range. */
export function checkOptions<Options extends object>(
  options: Options,
  { countsFromOne = [], countsFromZero = [], aboveZero = [] }: NumberRules<Options>,
): void {
  for (const option of countsFromOne) checkCount(option, options[option], 1);
  for (const option of countsFromZero) checkCount(option, options[option], 0);
  for (const option of aboveZero) {
    const value = options[option] as number | undefined;
    if (value !== undefined && !(value > 0)) refuse(option, `${option} must be above 0; got ${value}.`);
  }
}

/** An option that is undefined is the same as one that is not there. */
export function definedOf<Options extends object>(options: Options): Partial<Options> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<Options>;
}

/** @throws ConfigurationError */
export function refuse(option: string, message: string): never {
  throw new ConfigurationError({ option, message });
}

function checkCount(option: string, value: unknown, least: number): void {
  if (value === undefined || (Number.isInteger(value) && (value as number) >= least)) return;
  refuse(option, `${option} must be a whole number from ${least} up; got ${String(value)}.`);
}
