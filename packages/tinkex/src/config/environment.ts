import { hostname } from 'node:os';
import { join } from 'node:path';

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
  /** `HF_TOKEN`, or the file that `hf auth login` writes. */
  readonly hubToken: string | undefined;
  readonly hubTokenFile: string | undefined;
  /** `HF_ENDPOINT`: a hub other than that of Hugging Face. */
  readonly hubUrl: string | undefined;
  /** The proxy of requests, and the hosts that need none. */
  readonly proxy: string | undefined;
  readonly noProxy: string | undefined;
  /** The name of this machine up to the first dot. */
  readonly hostName: string;
}

/** Reads the environment. No other file of this package does. */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>> = process.env): CliEnvironment {
  const read = (name: string): string | undefined => variables[name] || undefined;
  const force = read('FORCE_COLOR');
  const home = read('HOME') ?? read('USERPROFILE');
  const hubFolder =
    read('HF_HOME') ?? (home === undefined ? undefined : join(read('XDG_CACHE_HOME') ?? join(home, '.cache'), 'huggingface'));
  return {
    home,
    isColorRefused: read('NO_COLOR') !== undefined || read('TERM') === 'dumb',
    isColorForced: force !== undefined && force !== '0',
    apiKey: read('TINKER_API_KEY'),
    credentialCommand: read('TINKER_CREDENTIAL_CMD'),
    baseUrl: read('TINKER_BASE_URL'),
    hubToken: read('HF_TOKEN'),
    hubTokenFile: read('HF_TOKEN_PATH') ?? (hubFolder === undefined ? undefined : join(hubFolder, 'token')),
    hubUrl: read('HF_ENDPOINT'),
    proxy: read('HTTPS_PROXY') ?? read('https_proxy') ?? read('HTTP_PROXY') ?? read('http_proxy'),
    noProxy: read('NO_PROXY') ?? read('no_proxy'),
    hostName: hostname().split('.')[0] ?? '',
  };
}
