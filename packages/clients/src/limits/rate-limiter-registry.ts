import { type Clock, normalizeBaseUrl, systemClock } from '@tinkex/http';
import { credentialHash } from './credential-hash.js';
import { type RateLimiter, TenantRateLimiter } from './rate-limiter.js';

/**
 * Limiters by clock, then by tenant. Weak, so that a process which connects to ever new servers does not grow. A limiter lives at least
 * as long as a client that uses it.
 */
const registries = new WeakMap<Clock, Map<string, WeakRef<TenantRateLimiter>>>();

/**
 * The limiter of a base URL and an API key. All clients of this process with the same URL, key and clock share it. The key is hashed
 * immediately and not stored.
 *
 * @example
 * ```ts
 * import { rateLimiterFor } from '@tinkex/clients';
 *
 * const { isBlocked, waiting } = rateLimiterFor('http://127.0.0.1:8000', 'tml-test-key').inspect();
 * console.log(isBlocked, waiting); // false 0
 * ```
 */
export function rateLimiterFor(baseUrl: string, apiKey: string | undefined, clock: Clock = systemClock): RateLimiter {
  return tenantRateLimiter(baseUrl, apiKey, clock);
}

/** The same limiter as {@link rateLimiterFor}, for the client that drives it. */
export function tenantRateLimiter(baseUrl: string, credential: string | undefined, clock: Clock): TenantRateLimiter {
  const tenantId = tenantIdOf(baseUrl, credential);
  let registry = registries.get(clock);
  if (!registry) {
    registry = new Map();
    registries.set(clock, registry);
  }
  const existing = registry.get(tenantId)?.deref();
  if (existing) return existing;
  for (const [key, reference] of registry) if (!reference.deref()) registry.delete(key);
  const limiter = new TenantRateLimiter(tenantId, clock);
  registry.set(tenantId, new WeakRef(limiter));
  return limiter;
}

/**
 * The normalized base URL and a hash of the credential. Equal for all spellings of a URL that mean the same server (letter case of the
 * host, default port, trailing slash). Never contains the credential.
 */
function tenantIdOf(baseUrl: string, credential: string | undefined): string {
  return `${normalizeBaseUrl(baseUrl)}#${credentialHash(credential ?? '')}`;
}
