/**
 * One listener for each signal, however many of our waits follow it: a user may pass the same signal to a thousand calls, and
 * Node warns about a leak from the eleventh listener on.
 */
const followers = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once when the signal is aborted; not if it already is.
 *
 * @returns A function that takes the registration back; calling it again does nothing. The signal keeps no listener once nobody follows it.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const callbacks = followers.get(signal) ?? follow(signal);
  callbacks.add(callback);
  return () => {
    // Taken back twice, it must not take the listener from those who have followed since.
    if (callbacks.delete(callback) && callbacks.size === 0) unfollow(signal);
  };
}

const dispatch = function (this: AbortSignal): void {
  const callbacks = followers.get(this);
  unfollow(this);
  if (callbacks !== undefined) for (const callback of callbacks) callback();
};

function follow(signal: AbortSignal): Set<() => void> {
  const callbacks = new Set<() => void>();
  followers.set(signal, callbacks);
  signal.addEventListener('abort', dispatch, { once: true });
  return callbacks;
}

function unfollow(signal: AbortSignal): void {
  followers.delete(signal);
  signal.removeEventListener('abort', dispatch);
}
