import type { Conversation } from '@tinkex/renderers';
import type { SplitOptions } from './conversation-source.js';

/** How a stream is read. */
export interface ConversationStreamOptions extends SplitOptions {
  /** How many conversations the stream has at least, those of the test set included. Batches are planned from it. */
  readonly length: number;
  /** How many conversations are held in memory to be shuffled. Default 10,000. */
  readonly bufferSize?: number | undefined;
}

/** Conversations that are read during training. */
export interface ConversationStream extends ConversationStreamOptions {
  /** Opens the stream at its beginning: for every epoch, and once more when a run continues. */
  open(): Iterable<Conversation> | AsyncIterable<Conversation>;
}

/**
 * Conversations that are too many for memory: read during training, and shuffled within a buffer. The first `testSize` are the test set. With
 * `shuffleSeed: null` the order is kept. A run that continues reads and drops what it has trained on, so the stream must be the same each time.
 *
 * @example
 * const data = conversationStream(() => rowsOfMyDatabase(), { length: 2_000_000 });
 */
export function conversationStream(open: ConversationStream['open'], options: ConversationStreamOptions): ConversationStream {
  return { ...options, open };
}
