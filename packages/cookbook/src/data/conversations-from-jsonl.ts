import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Conversation, fromAlpaca, fromOpenAI, fromShareGpt } from '@tinkex/renderers';
import { ConfigurationError, ValidationError, type ValidationIssue } from '@tinkex/types';
import { type ConversationSource, type SplitOptions, splitConversations } from './conversation-source.js';

/** How a line of a file is written. */
export type ConversationFormat = 'openai' | 'sharegpt' | 'alpaca';

/** Options of {@link conversationsFromJsonl}. */
export interface ConversationsFromJsonlOptions extends SplitOptions {
  /** Default: recognized per line, by `messages`, `conversations` or `instruction`. */
  readonly format?: ConversationFormat | undefined;
}

/** How many lines an error message shows. Its `issues` have all. */
const SHOWN_LINES = 10;

const READERS: Readonly<Record<ConversationFormat, { readonly key: string; readonly read: (record: unknown) => Conversation }>> = {
  openai: { key: 'messages', read: (record) => fromOpenAI(record, '') },
  sharegpt: { key: 'conversations', read: (record) => fromShareGpt(record, '') },
  alpaca: { key: 'instruction', read: (record) => fromAlpaca(record, '') },
};

/**
 * Conversations of JSONL files, one per line, in OpenAI's chat format, ShareGPT's or Alpaca's. System messages, tools and thinking are kept.
 *
 * The files are read when training starts. Lines that cannot be read are all reported in one `ValidationError`, with file and line, before anything is
 * trained.
 */
export function conversationsFromJsonl(paths: string | readonly string[], options: ConversationsFromJsonlOptions = {}): ConversationSource {
  return { load: async () => splitConversations(await readConversations([paths].flat(), options.format), options) };
}

async function readConversations(paths: readonly string[], format: ConversationFormat | undefined): Promise<Conversation[]> {
  const conversations: Conversation[] = [];
  const issues: ValidationIssue[] = [];
  for (const path of paths) {
    let line = 0;
    for await (const text of linesOf(path)) {
      line++;
      if (text.trim() === '') continue;
      try {
        conversations.push(readConversation(text, format));
      } catch (error) {
        issues.push({ path: `${path}:${line}`, message: explain(error) });
      }
    }
  }
  if (issues.length > 0) throw invalidLines(issues);
  return conversations;
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

function readConversation(text: string, format: ConversationFormat | undefined): Conversation {
  const record: unknown = JSON.parse(text);
  const recognized = format ?? recognizeFormat(record);
  const conversation = READERS[recognized].read(record);
  if (conversation.messages.length === 0) throw new Error('The conversation has no messages.');
  return conversation;
}

function recognizeFormat(record: unknown): ConversationFormat {
  const isObject = typeof record === 'object' && record !== null;
  const found = (Object.keys(READERS) as ConversationFormat[]).find((format) => isObject && READERS[format].key in record);
  if (found === undefined)
    throw new Error('The line must be an object with messages (OpenAI), conversations (ShareGPT) or instruction (Alpaca).');
  return found;
}

function explain(error: unknown): string {
  if (!ValidationError.isInstance(error)) return (error as Error).message;
  return error.issues.map(({ path, message }) => `${path.replace(/^\./, '')} ${message}`.trim()).join(' ');
}

function invalidLines(issues: readonly ValidationIssue[]): ValidationError {
  const shown = issues.slice(0, SHOWN_LINES).map(({ path, message }) => `  ${path}: ${message}`);
  const more = issues.length > SHOWN_LINES ? [`  and ${issues.length - SHOWN_LINES} more; see the issues of this error.`] : [];
  const message = [`${issues.length} lines are not conversations. Nothing was trained. Fix or remove them:`, ...shown, ...more].join('\n');
  return new ValidationError({ direction: 'request', subject: 'conversations', issues, message });
}
