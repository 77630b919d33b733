import { type Conversation, fromAlpaca, fromOpenAI, fromShareGpt } from '@tinkex/renderers';
import { ValidationError, type ValidationIssue } from '@tinkex/types';

/** How a record of a file is written. */
export type ConversationFormat = 'openai' | 'sharegpt' | 'alpaca';

/** How many records an error message shows. Its `issues` have all. */
const SHOWN_RECORDS = 10;

const READERS: Readonly<Record<ConversationFormat, { readonly key: string; readonly read: (record: unknown) => Conversation }>> = {
  openai: { key: 'messages', read: (record) => fromOpenAI(record, '') },
  sharegpt: { key: 'conversations', read: (record) => fromShareGpt(record, '') },
  alpaca: { key: 'instruction', read: (record) => fromAlpaca(record, '') },
};

/** Collects the conversations of records. Those that cannot be read are reported together at the end. */
export class ConversationRecords {
  readonly #format: ConversationFormat | undefined;
  readonly #conversations: Conversation[] = [];
  readonly #issues: ValidationIssue[] = [];

  /** @param format - Default: recognized per record. */
  constructor(format: ConversationFormat | undefined) {
    this.#format = format;
  }

  /**
   * Adds one record.
   *
   * @param place - Where it is, such as `chats.jsonl:7`.
   * @param read - Gives the record; what it throws is reported like a record that is not a conversation.
   */
  add(place: string, read: () => unknown): void {
    try {
      this.#conversations.push(readConversation(read(), this.#format));
    } catch (error) {
      this.#issues.push({ path: place, message: explain(error) });
    }
  }

  /** All conversations, or a `ValidationError` that lists every record that is not one. */
  finish(): Conversation[] {
    if (this.#issues.length > 0) throw invalidRecords(this.#issues);
    return this.#conversations;
  }
}

function readConversation(record: unknown, format: ConversationFormat | undefined): Conversation {
  const recognized = format ?? recognizeFormat(record);
  const conversation = READERS[recognized].read(record);
  if (conversation.messages.length === 0) throw new Error('The conversation has no messages.');
  return conversation;
}

function recognizeFormat(record: unknown): ConversationFormat {
  const isObject = typeof record === 'object' && record !== null;
  const found = (Object.keys(READERS) as ConversationFormat[]).find((format) => isObject && READERS[format].key in record);
  if (found === undefined)
    throw new Error('It must be an object with messages (OpenAI), conversations (ShareGPT) or instruction (Alpaca).');
  return found;
}

function explain(error: unknown): string {
  if (!ValidationError.isInstance(error)) return (error as Error).message;
  return error.issues.map(({ path, message }) => `${path.replace(/^\./, '')} ${message}`.trim()).join(' ');
}

function invalidRecords(issues: readonly ValidationIssue[]): ValidationError {
  const shown = issues.slice(0, SHOWN_RECORDS).map(({ path, message }) => `  ${path}: ${message}`);
  const more = issues.length > SHOWN_RECORDS ? [`  and ${issues.length - SHOWN_RECORDS} more; see the issues of this error.`] : [];
  const what = issues.length === 1 ? '1 record is not a conversation' : `${issues.length} records are not conversations`;
  const message = [`${what}. Nothing was trained. Fix or remove ${issues.length === 1 ? 'it' : 'them'}:`, ...shown, ...more].join('\n');
  return new ValidationError({ direction: 'request', subject: 'conversations', issues, message });
}
