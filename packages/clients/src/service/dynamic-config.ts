import type { ClientDynamicConfigResponse } from '@tinkex/types/wire';
import type { Runtime } from '../runtime/runtime.js';

const MIN_REFRESH_MS = 10_000;

export interface DynamicConfigOptions extends Pick<Runtime, 'clock' | 'lifetime'> {
  readonly initial: ClientDynamicConfigResponse;
  readonly fetch: () => Promise<ClientDynamicConfigResponse>;
}

/**
 * Refreshes what the server may change while a session runs, at the interval that the server names but at most every 10 s. A failed
 * refresh keeps the last values.
 *
 * @returns A function that reads the latest values.
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
      // The old values stay valid; the failed request is visible in the http events.
    }
    schedule();
  };
  lifetime.onClose(() => clock.clearTimeout(timer));
  schedule();
  return () => current;
}
