import { ConfigurationError } from '@tinkex/types';

/**
 * A misspelt option is an error and not a silent nothing.
 *
 * @param prefix - Where the options stand, with a dot: `limits.`; empty for those of the client itself.
 */
export function rejectUnknown(given: object, known: Readonly<Record<string, true>>, prefix: string): void {
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(known, name)) {
      const names = Object.keys(known).join(', ');
      throw new ConfigurationError({ message: `Unknown option ${prefix}${name}. Known ones: ${names}`, option: `${prefix}${name}` });
    }
  }
}
