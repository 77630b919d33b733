import type { FutureView } from './future-core.js';
import type { FutureProgress } from './future-progress.js';

/**
 * Iterates over the progress of one future: first its present state, then each change (changes between two reads collapse
 * into one), last the settled state. A failed future's last read throws its error.
 */
export function progressOf(core: FutureView<unknown>): AsyncIterator<FutureProgress, undefined> {
  let hasChanged = true;
  let isDone = false;
  // Several, because a caller may start the next read before the last has ended.
  let readers: (() => void)[] = [];
  const wakeReaders = (): void => {
    const woken = readers;
    readers = [];
    for (const wake of woken) wake();
  };
  const stop = core.onProgress(() => {
    hasChanged = true;
    wakeReaders();
  });
  const finish = (): IteratorResult<FutureProgress, undefined> => {
    isDone = true;
    stop();
    wakeReaders();
    return { done: true, value: undefined };
  };
  return {
    async next() {
      while (!isDone && !hasChanged && !core.isSettled) {
        await new Promise<void>((resolve) => {
          readers.push(resolve);
        });
      }
      if (isDone) return { done: true, value: undefined };
      if (hasChanged && core.status !== 'rejected') {
        hasChanged = false;
        return { done: false, value: core.progress() };
      }
      finish();
      await core.promise;
      return { done: true, value: undefined };
    },
    async return() {
      return finish();
    },
  };
}
