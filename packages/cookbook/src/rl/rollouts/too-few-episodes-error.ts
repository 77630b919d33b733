import { TinkexError } from '@tinkex/types';

/** Too few episodes of a group succeeded. Its cause is the last failure. */
export class TooFewEpisodesError extends TinkexError {
  static override readonly kind: string = 'TooFewEpisodesError';
  static override readonly code: string = 'TINKEX_TOO_FEW_EPISODES';

  constructor(succeeded: number, needed: number, cause: unknown) {
    super({ message: `${succeeded} episodes of the group succeeded, ${needed} are needed.`, cause });
  }
}
