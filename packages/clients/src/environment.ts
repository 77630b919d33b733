/** What the environment says about the service. Empty texts count as unset, except where the protocol gives them a meaning. */
export interface TinkerEnvironment {
  readonly apiKey?: string;
  readonly credentialCommand?: string;
  readonly baseUrl?: string;
  readonly projectId?: string;
  /** `TINKER_TAGS`, split on commas, without repeats, in the order written. */
  readonly tags: readonly string[];
  /** `TINKER_TELEMETRY` as written: even the empty text has a meaning. */
  readonly telemetry?: string;
  /** Headers for a service behind Cloudflare Access. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads the `TINKER_*` variables. The only place in this package that looks at the environment. */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>> = process.env): TinkerEnvironment {
  const apiKey = nonEmpty(variables['TINKER_API_KEY']);
  const credentialCommand = nonEmpty(variables['TINKER_CREDENTIAL_CMD']);
  const baseUrl = nonEmpty(variables['TINKER_BASE_URL']);
  const projectId = nonEmpty(variables['TINKER_PROJECT_ID']);
  const tags = variables['TINKER_TAGS'];
  const telemetry = variables['TINKER_TELEMETRY'];
  return {
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(credentialCommand === undefined ? {} : { credentialCommand }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(projectId === undefined ? {} : { projectId }),
    tags: tags === undefined ? [] : [...new Set(tags.split(','))],
    ...(telemetry === undefined ? {} : { telemetry }),
    headers: accessHeaders(variables),
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

function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
