/** Proxies as the environment names them. An absent name is the empty text. */
export interface ProxySettings {
  /** For `http:` URLs. */
  readonly httpProxy: string;
  /** For `https:` URLs; falls back to `httpProxy`. */
  readonly httpsProxy: string;
  /** Hosts that are reached directly: separated by commas or blanks, a leading dot or `*.` covers subdomains, `*` covers all. */
  readonly noProxy: string;
}

/**
 * Reads `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`; the lower-case spelling wins. `undefined` when no proxy is named. This file
 * is the only place in the package that looks at the environment.
 */
export function proxyFromEnvironment(environment: Readonly<Record<string, string | undefined>> = process.env): ProxySettings | undefined {
  const httpProxy = environment['http_proxy'] ?? environment['HTTP_PROXY'] ?? '';
  const httpsProxy = environment['https_proxy'] ?? environment['HTTPS_PROXY'] ?? '';
  if (httpProxy === '' && httpsProxy === '') return undefined;
  return { httpProxy, httpsProxy, noProxy: environment['no_proxy'] ?? environment['NO_PROXY'] ?? '' };
}

/**
 * The headers that open a service behind Cloudflare Access: `CLOUDFLARE_ACCESS_CLIENT_ID` and
 * `CLOUDFLARE_ACCESS_CLIENT_SECRET`, each left out when it is not set. Pass them as `headers` of a client.
 */
export function cloudflareAccessHeaders(environment: Readonly<Record<string, string | undefined>> = process.env): Record<string, string> {
  const id = environment['CLOUDFLARE_ACCESS_CLIENT_ID'];
  const secret = environment['CLOUDFLARE_ACCESS_CLIENT_SECRET'];
  return { ...(id ? { 'cf-access-client-id': id } : {}), ...(secret ? { 'cf-access-client-secret': secret } : {}) };
}
