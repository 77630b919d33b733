import type { FutureView } from './future-core.js';
import type { FutureProgress } from './future-progress.js';

/**
 * Iterates over the progress of one future: first its present state, then each change (changes between two reads collapse
 * into one), last the settled state. A failed future's last read throws its error.
 */
export function progressOf(core: FutureView<unknown>): AsyncIterator<FutureProgress, undefined> {
  let hasNews = true;
  let isDone = false;
  let wake: (() => void) | undefined;
  const stop = core.onProgress(() => {
    hasNews = true;
    wake?.();
  });
  const finish = (): IteratorResult<FutureProgress, undefined> => {
    isDone = true;
    stop();
    wake?.();
    return { done: true, value: undefined };
  };
  return {
    async next() {
      if (isDone) return { done: true, value: undefined };
      if (!hasNews && !core.isSettled) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = undefined;
      }
      if (isDone) return { done: true, value: undefined };
      if (hasNews && core.status !== 'rejected') {
        hasNews = false;
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
