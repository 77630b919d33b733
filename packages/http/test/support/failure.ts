import type { TinkexError } from '@tinkex/types';

/** The error of a call that must fail. */
export function failure(promise: PromiseLike<unknown>): Promise<TinkexError> {
  return Promise.resolve(promise).then(
    () => {
      throw new Error('The call did not fail.');
    },
    (error: TinkexError) => error,
  );
}
