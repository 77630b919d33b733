import { hostname } from 'node:os';

/** What the command reads from the environment. Empty values count as unset. */
export interface CliEnvironment {
  readonly home: string | undefined;
  /** `NO_COLOR` is set. */
  readonly isColorRefused: boolean;
  /** `FORCE_COLOR` is set, and not to 0. */
  readonly isColorForced: boolean;
  readonly apiKey: string | undefined;
  readonly credentialCommand: string | undefined;
  readonly baseUrl: string | undefined;
  /** The name of this machine up to the first dot. */
  readonly hostName: string;
}

/** Reads the environment. No other file of this package does. */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>> = process.env): CliEnvironment {
  const read = (name: string): string | undefined => variables[name] || undefined;
  const force = read('FORCE_COLOR');
  return {
    home: read('HOME') ?? read('USERPROFILE'),
    isColorRefused: read('NO_COLOR') !== undefined || read('TERM') === 'dumb',
    isColorForced: force !== undefined && force !== '0',
    apiKey: read('TINKER_API_KEY'),
    credentialCommand: read('TINKER_CREDENTIAL_CMD'),
    baseUrl: read('TINKER_BASE_URL'),
    hostName: hostname().split('.')[0] ?? '',
  };
}
