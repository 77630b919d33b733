import { ConfigurationError } from '@tinkex/types';

/**
 * Rejects misspelled options instead of ignoring them.
 *
 * @param prefix - The path of the options with a dot, such as `limits.`; empty for the options of the client.
 * @throws ConfigurationError that names the unknown option and lists the known ones.
 */
export function rejectUnknownOptions(given: object, known: Readonly<Record<string, true>>, prefix: string): void {
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(known, name)) continue;
    const names = Object.keys(known).join(', ');
    throw new ConfigurationError({ message: `Unknown option ${prefix}${name}. Known options: ${names}.`, option: `${prefix}${name}` });
  }
}
