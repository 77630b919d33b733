import type { Clock } from '@tinkex/http';
import type { ClientDynamicConfigResponse } from '@tinkex/types/wire';
import type { Lifetime } from '../runtime/client-lifetime.js';

const MIN_REFRESH_MS = 10_000;

export interface DynamicConfigOptions {
  readonly clock: Clock;
  readonly lifetime: Lifetime;
  readonly initial: ClientDynamicConfigResponse;
  readonly fetch: () => Promise<ClientDynamicConfigResponse>;
}

/**
 * Refreshes what the server may change while a session runs, at the interval the server names and never more often than
 * every 10 s. A failed refresh keeps the last values.
 *
 * @returns Reads the latest values.
 */
export function keepDynamicConfig({ clock, lifetime, initial, fetch }: DynamicConfigOptions): () => ClientDynamicConfigResponse {
  let current = initial;
  let timer: unknown;
  const schedule = (): void => {
    if (lifetime.isClosed) return;
    timer = clock.setTimeout(() => void refresh(), Math.max(current.refreshIntervalSec * 1000, MIN_REFRESH_MS));
  };
  const refresh = async (): Promise<void> => {
    try {
      current = await fetch();
    } catch {
      // The old values stay good; the failed request is visible in the http events.
    }
    schedule();
  };
  lifetime.onClose(() => clock.clearTimeout(timer));
  schedule();
  return () => current;
}
