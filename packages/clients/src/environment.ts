import { findNodeModule } from '@tinkex/http/runtime';
import { ConfigurationError } from '@tinkex/types';

/** The settings from the environment. Empty values count as unset, except where the protocol gives them a meaning. */
export interface TinkerEnvironment {
  readonly apiKey: string | undefined;
  readonly credentialCommand: string | undefined;
  readonly baseUrl: string | undefined;
  readonly projectId: string | undefined;
  /** `TINKER_TAGS`, split on commas, without repeats, in the order written. */
  readonly tags: readonly string[];
  /** `TINKER_TELEMETRY` as written: even the empty value has a meaning. */
  readonly telemetry: string | undefined;
  /** `HF_TOKEN`: opens gated models of the hub. */
  readonly hubToken: string | undefined;
  /** The user's folder for files that can be fetched again. */
  readonly cacheHome: string | undefined;
  /** Headers for a service behind Cloudflare Access. */
  readonly headers: Readonly<Record<string, string>>;
  /** Reads `~/.tinker/credentials.json`, as `tinker auth login` writes it. Undefined when there is none. */
  readonly readCredentialsFile: () => string | undefined;
}

/** Reads the `TINKER_*` variables, and where tokenizers come from. No other file of this package reads the environment. */
export function readEnvironment(
  variables: Readonly<Record<string, string | undefined>> = globalThis.process?.env ?? {},
): TinkerEnvironment {
  const tags = variables['TINKER_TAGS'];
  return {
    apiKey: nonEmpty(variables['TINKER_API_KEY']),
    credentialCommand: nonEmpty(variables['TINKER_CREDENTIAL_CMD']),
    baseUrl: nonEmpty(variables['TINKER_BASE_URL']),
    projectId: nonEmpty(variables['TINKER_PROJECT_ID']),
    tags: tags === undefined ? [] : [...new Set(tags.split(','))],
    telemetry: variables['TINKER_TELEMETRY'],
    hubToken: nonEmpty(variables['HF_TOKEN']),
    cacheHome: cacheHome(variables),
    headers: accessHeaders(variables),
    readCredentialsFile: () => readCredentialsFile(nonEmpty(variables['HOME']) ?? nonEmpty(variables['USERPROFILE'])),
  };
}

function accessHeaders(variables: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const headers: Record<string, string> = {};
  const id = nonEmpty(variables['CLOUDFLARE_ACCESS_CLIENT_ID']);
  const secret = nonEmpty(variables['CLOUDFLARE_ACCESS_CLIENT_SECRET']);
  if (id !== undefined) headers['cf-access-client-id'] = id;
  if (secret !== undefined) headers['cf-access-client-secret'] = secret;
  return headers;
}

function cacheHome(variables: Readonly<Record<string, string | undefined>>): string | undefined {
  const home = nonEmpty(variables['HOME']);
  const named = nonEmpty(variables['XDG_CACHE_HOME']) ?? nonEmpty(variables['LOCALAPPDATA']);
  return named ?? (home === undefined ? undefined : `${home}/.cache`);
}

/** Never written by the SDK. */
function readCredentialsFile(home: string | undefined): string | undefined {
  const fs = findNodeModule('node:fs');
  if (home === undefined || fs === undefined) return undefined;
  try {
    return fs.readFileSync(`${home}/.tinker/credentials.json`, 'utf8');
  } catch (error) {
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    const message = `The credentials file (~/.tinker/credentials.json) could not be read (${code}). Pass apiKey or set TINKER_API_KEY.`;
    throw new ConfigurationError({ message, option: 'apiKey', environmentVariable: 'TINKER_API_KEY', cause: error });
  }
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
