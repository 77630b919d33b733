import { AbortedError } from '@tinkex/types';
import type { CallOptions } from './call-options.js';

/** Nothing is started for a call that is over before it begins. */
export function throwIfAborted({ signal }: Pick<CallOptions, 'signal'>): void {
  if (signal?.aborted) throw new AbortedError({ message: 'The call was aborted', cause: signal.reason });
}
