import { ConfigurationError } from '@tinkex/types';
import { type ProxySettings, proxyFromEnvironment } from '../environment.js';

const SCHEMES = ['http:', 'https:', 'socks:', 'socks5:'];

/**
 * The proxies that a transport uses, each an absolute URL or the empty string; `undefined` for none.
 *
 * @throws ConfigurationError when a proxy is not a URL. The message does not show it: it may hold a password.
 */
export function proxySettings(proxy: 'environment' | false | Partial<ProxySettings>): ProxySettings | undefined {
  if (proxy === false) return undefined;
  const isFromEnvironment = proxy === 'environment';
  const named = isFromEnvironment ? proxyFromEnvironment() : proxy;
  if (named === undefined) return undefined;
  return {
    httpProxy: proxyUrl(named.httpProxy ?? '', 'httpProxy', isFromEnvironment ? 'HTTP_PROXY' : undefined),
    httpsProxy: proxyUrl(named.httpsProxy ?? '', 'httpsProxy', isFromEnvironment ? 'HTTPS_PROXY' : undefined),
    noProxy: named.noProxy ?? '',
  };
}

/** `host:port` alone means an HTTP proxy, as in other programs. */
function proxyUrl(text: string, name: string, environmentVariable: string | undefined): string {
  if (text === '') return text;
  const url = text.includes('://') ? text : `http://${text}`;
  if (URL.canParse(url) && SCHEMES.includes(new URL(url).protocol)) return url;
  throw new ConfigurationError({
    message: `${environmentVariable ?? `proxy.${name}`} is not the URL of a proxy, such as http://proxy.internal:3128.`,
    option: `proxy.${name}`,
    environmentVariable,
  });
}
