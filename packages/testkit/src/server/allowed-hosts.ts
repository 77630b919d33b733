import { isIP } from 'node:net';

/**
 * Whether a request may name this host. A page in a browser can make any name point at this machine, but then the browser sends that name:
 * only addresses, `localhost` and names that the user has allowed are answered. Undefined allows every name.
 */
export function isAllowedHost(header: string | undefined, allowed: readonly string[] | undefined): boolean {
  if (allowed === undefined) return true;
  const name = hostName(header ?? '');
  return isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost') || allowed.includes(name);
}

/** What the refused client gets to read. */
export function hostRefused(header: string | undefined): string {
  return `The host ${JSON.stringify(header ?? '')} is not allowed. Use an address or localhost, or start the server with --allow-host NAME.`;
}

/** The name without the port, in lower case; an IPv6 address without its brackets. */
function hostName(header: string): string {
  const [, address, name] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(header) ?? [];
  return (address ?? name ?? '').toLowerCase();
}
