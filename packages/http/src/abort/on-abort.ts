import { AbortedError } from '@tinkex/types';

/**
 * One listener per signal, however many waits follow it: you may pass the same signal to a thousand calls, and Node warns of a
 * leak from the eleventh listener on.
 */
const FOLLOWERS = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once when the signal is aborted, and not if it is aborted already: check `signal.aborted` first.
 *
 * @returns A function that takes the registration back. Idempotent. The signal keeps no listener when nothing follows it.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const followers = FOLLOWERS.get(signal) ?? follow(signal);
  followers.add(callback);
  return () => {
    // A second call must not remove the listener of those that follow since.
    if (followers.delete(callback) && followers.size === 0) unfollow(signal);
  };
}

/** The error of a call whose signal was aborted. */
export function abortedBy(signal: AbortSignal | undefined): AbortedError {
  return new AbortedError({ message: 'The call was aborted.', cause: signal?.reason });
}

function follow(signal: AbortSignal): Set<() => void> {
  const followers = new Set<() => void>();
  FOLLOWERS.set(signal, followers);
  signal.addEventListener('abort', notify, { once: true });
  return followers;
}

function unfollow(signal: AbortSignal): void {
  FOLLOWERS.delete(signal);
  signal.removeEventListener('abort', notify);
}

function notify(this: AbortSignal): void {
  const followers = FOLLOWERS.get(this) ?? [];
  unfollow(this);
  for (const follower of followers) {
    try {
      follower();
    } catch (error) {
      // As with separate listeners, a follower that throws does not keep the others from being called.
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
