const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Whether the `Host` header of a request names this server. A page of another site can reach a loopback server under its own name (DNS rebinding); the name is what
 * gives it away. `allowed` adds names to the loopback ones; `*` allows every name.
 */
export function isAllowedHost(header: string | null | undefined, allowed: readonly string[]): boolean {
  if (allowed.includes('*')) return true;
  const name = header?.toLowerCase().replace(/:\d{1,5}$/, '') ?? '';
  return LOOPBACK_NAMES.includes(name) || allowed.some((one) => one.toLowerCase() === name);
}
