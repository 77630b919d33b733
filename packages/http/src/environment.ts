/** The proxies of a transport. The empty string stands for no proxy. */
export interface ProxySettings {
  /** For `http:` URLs. */
  readonly httpProxy: string;
  /** For `https:` URLs; falls back to `httpProxy`. */
  readonly httpsProxy: string;
  /** Hosts without a proxy, separated by commas or blanks. A leading dot or `*.` covers subdomains, `*` covers all. */
  readonly noProxy: string;
}

/**
 * Reads `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`; the lower-case spelling wins. Returns `undefined` without a proxy. This file
 * is the only one in the package that reads the environment.
 */
export function proxyFromEnvironment(
  environment: Readonly<Record<string, string | undefined>> = globalThis.process?.env ?? {},
): ProxySettings | undefined {
  const httpProxy = environment['http_proxy'] ?? environment['HTTP_PROXY'] ?? '';
  const httpsProxy = environment['https_proxy'] ?? environment['HTTPS_PROXY'] ?? '';
  if (httpProxy === '' && httpsProxy === '') return undefined;
  return { httpProxy, httpsProxy, noProxy: environment['no_proxy'] ?? environment['NO_PROXY'] ?? '' };
}
