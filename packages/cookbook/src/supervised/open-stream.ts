import type { Conversation, Renderer } from '@tinkex/renderers';
import { renderWithin } from '../data/conversation-dataset.js';
import type { ConversationStream } from '../data/conversation-stream.js';
import { streamDataset } from '../data/stream-dataset.js';
import { nllEvaluator } from '../evaluation/nll.js';
import type { ResolvedConfig } from './config.js';

const DEFAULT_BUFFER_SIZE = 10_000;

/** A stream as batches, with its first conversations as the test set. */
export async function openStream(stream: ConversationStream, config: ResolvedConfig, renderer: Renderer) {
  const { length, bufferSize = DEFAULT_BUFFER_SIZE, testSize = 0, shuffleSeed = 0 } = stream;
  const toDatum = (conversation: Conversation) => renderWithin(conversation, { ...config, renderer });
  const { tokenizer, name: rendererName } = renderer;
  const testConversations: Conversation[] = [];
  if (testSize > 0) {
    for await (const conversation of stream.open()) if (testConversations.push(conversation) === testSize) break;
  }
  const dataset = streamDataset({
    open: () => skip(stream.open(), testSize),
    length: length - testSize,
    batchSize: config.batchSize as number,
    bufferSize,
    shuffleSeed,
    toData: (conversation) => [toDatum(conversation)],
  });
  const test = testSize > 0 ? nllEvaluator(testConversations.map(toDatum), { tokenizer }) : undefined;
  return { dataset, tokenizer, rendererName, test, rows: length, close: dataset.close };
}

async function* skip<Row>(rows: Iterable<Row> | AsyncIterable<Row>, count: number): AsyncGenerator<Row> {
  let index = 0;
  for await (const row of rows) if (index++ >= count) yield row;
}
