import type { Conversation } from '@tinkex/renderers';
import { numpyPermutation } from './numpy-random.js';

/** Conversations to train on, and those to evaluate with. */
export interface ConversationSplit {
  readonly train: readonly Conversation[];
  readonly test?: readonly Conversation[] | undefined;
}

/** Conversations that are read when training starts. */
export interface ConversationSource {
  /** Reads everything. Throws a `ValidationError` that lists all records that cannot be read. */
  load(): Promise<ConversationSplit>;
}

/** How conversations are ordered and split. */
export interface SplitOptions {
  /** How many conversations are kept for evaluation. Default 0. If there are not more than that, all are trained on. */
  readonly testSize?: number | undefined;
  /** Seed of the order before the split; `null` keeps the order. Default 0. */
  readonly shuffleSeed?: number | null | undefined;
}

/**
 * Conversations that your program has or generates, from any iterable.
 *
 * @example
 * const data = conversationsFrom(rows.map(({ question, answer }) => ({
 *   messages: [{ role: 'user', content: question }, { role: 'assistant', content: answer }],
 * })));
 */
export function conversationsFrom(
  conversations: Iterable<Conversation> | AsyncIterable<Conversation>,
  options: SplitOptions = {},
): ConversationSource {
  return {
    async load() {
      const all: Conversation[] = [];
      for await (const conversation of conversations) all.push(conversation);
      return splitConversations(all, options);
    },
  };
}

/** Shuffles, then keeps the first `testSize` for evaluation: the order and the split of the reference. */
export function splitConversations<Row>(
  rows: readonly Row[],
  { testSize = 0, shuffleSeed = 0 }: SplitOptions,
): { readonly train: readonly Row[]; readonly test?: readonly Row[] | undefined } {
  const ordered = shuffleSeed === null ? rows : Array.from(numpyPermutation(shuffleSeed, rows.length), (index) => rows[index] as Row);
  if (testSize <= 0 || testSize >= rows.length) return { train: ordered };
  return { train: ordered.slice(testSize), test: ordered.slice(0, testSize) };
}
