import { type Clock, systemClock } from '@tinkex/http';
import { RateLimiter } from './rate-limiter.js';
import { tenantIdOf } from './tenant-id.js';

/**
 * Limiters by clock, then by tenant. Weak, so that a process which talks to ever new servers does not grow; a limiter lives at least
 * as long as a client that uses it.
 */
const registries = new WeakMap<Clock, Map<string, WeakRef<RateLimiter>>>();

/**
 * The limiter of a base URL and a key: the same object for every client of this process that uses both (and the same clock), a
 * different one for everybody else. The key is hashed at once and kept nowhere.
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
  return tenantLimiter(tenantIdOf(baseUrl, apiKey), clock);
}

/** The limiter of a tenant id made by {@link tenantIdOf}. */
export function tenantLimiter(tenantId: string, clock: Clock): RateLimiter {
  let registry = registries.get(clock);
  if (!registry) {
    registry = new Map();
    registries.set(clock, registry);
  }
  const existing = registry.get(tenantId)?.deref();
  if (existing) return existing;
  for (const [key, reference] of registry) if (!reference.deref()) registry.delete(key);
  const limiter = new RateLimiter(tenantId, clock);
  registry.set(tenantId, new WeakRef(limiter));
  return limiter;
}
