import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Conversation } from '@tinkex/renderers';
import { ConfigurationError } from '@tinkex/types';
import { type ConversationFormat, ConversationRecords } from './conversation-records.js';
import { type ConversationSource, type SplitOptions, splitConversations } from './conversation-source.js';

/** Options of {@link conversationsFromJsonl} and {@link conversationsFromParquet}. */
export interface ConversationFileOptions extends SplitOptions {
  /** Default: recognized per record, by `messages`, `conversations` or `instruction`. */
  readonly format?: ConversationFormat | undefined;
}

/**
 * Conversations of JSONL files, one per line, in OpenAI's chat format, ShareGPT's or Alpaca's. System messages, tools and thinking are kept.
 *
 * The files are read when training starts. Lines that cannot be read are all reported in one `ValidationError`, with file and line, before anything is
 * trained.
 */
export function conversationsFromJsonl(paths: string | readonly string[], options: ConversationFileOptions = {}): ConversationSource {
  return { load: async () => splitConversations(await readConversations([paths].flat(), options.format), options) };
}

async function readConversations(paths: readonly string[], format: ConversationFormat | undefined): Promise<Conversation[]> {
  const records = new ConversationRecords(format);
  for (const path of paths) {
    let line = 0;
    for await (const text of linesOf(path)) {
      line++;
      if (text.trim() !== '') records.add(`${path}:${line}`, () => JSON.parse(text));
    }
  }
  return records.finish();
}

async function* linesOf(path: string): AsyncGenerator<string> {
  const stream = createReadStream(path, 'utf8');
  try {
    yield* createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  } catch (cause) {
    throw new ConfigurationError({ option: 'data', message: `The file ${path} cannot be read: ${(cause as Error).message}.`, cause });
  } finally {
    stream.destroy();
  }
}
