type Listener = (message: unknown, name: string) => void;

/** The part of `node:diagnostics_channel` that the SDK uses, for runtimes without it. */
export interface LocalChannels {
  channel(name: string): { readonly hasSubscribers: boolean; publish(message: unknown): void };
  subscribe(name: string, listener: Listener): void;
  unsubscribe(name: string, listener: Listener): boolean;
}

/** Channels that only this copy of the package knows. */
export function localChannels(): LocalChannels {
  const listeners = new Map<string, Set<Listener>>();
  const listenersOf = (name: string): Set<Listener> => {
    const found = listeners.get(name) ?? new Set();
    listeners.set(name, found);
    return found;
  };
  return {
    channel(name) {
      const own = listenersOf(name);
      return {
        get hasSubscribers() {
          return own.size > 0;
        },
        publish(message) {
          for (const listener of [...own]) listener(message, name);
        },
      };
    },
    subscribe: (name, listener) => void listenersOf(name).add(listener),
    unsubscribe: (name, listener) => listenersOf(name).delete(listener),
  };
}
