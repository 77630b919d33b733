import { type Conversation, conversationToDatum, type Message, type Reduction, type Renderer, type TrainOnWhat } from '@tinkex/renderers';
import { ConfigurationError, type Datum, ValidationError, type ValidationIssue } from '@tinkex/types';
import { numbersOf } from '../evaluation/loss-metrics.js';
import { type BatchOptions, rowDataset, type SupervisedDataset } from './supervised-dataset.js';

/** How conversations become examples. */
export interface RenderOptions {
  readonly renderer: Renderer;
  /** Default `all_assistant_messages`. */
  readonly trainOnWhat?: TrainOnWhat | undefined;
  /** The most tokens of an example. Default: no limit. */
  readonly maxLength?: number | undefined;
  /** What happens to a longer one: its end is cut off (`truncate`, the default), it is left out (`drop`), or nothing is trained (`refuse`). */
  readonly tooLong?: 'truncate' | 'drop' | 'refuse' | undefined;
  /** Default `mean`: each example counts the same, however long its answers are. */
  readonly reduction?: Reduction | undefined;
}

/** What the data consists of, measured before anything is trained. */
export interface DataReport {
  /** Conversations that are trained on. */
  readonly rows: number;
  /** Tokens of one epoch, if no row is left over. */
  readonly tokens: number;
  /** Tokens of the longest conversation, before it was cut. */
  readonly longestTokens: number;
  /** Conversations whose end was cut off. */
  readonly truncatedRows: number;
  /** Conversations that were left out because they are too long. */
  readonly droppedRows: number;
  /** Conversations without a token to learn, for example without an answer. They are trained on, without effect. */
  readonly rowsWithoutTarget: number;
}

/** Conversations as batches, and what they consist of. */
export interface ConversationDataset {
  readonly dataset: SupervisedDataset;
  readonly report: DataReport;
}

interface MeasuredRow {
  readonly conversation: Conversation;
  readonly tokens: number;
}

/**
 * Makes batches of conversations. Every conversation is rendered once to measure it, and again when its batch is due, so that memory holds one batch of
 * examples.
 *
 * @throws ValidationError that lists all conversations that cannot be rendered.
 */
export function conversationDataset(conversations: readonly Conversation[], options: RenderOptions & BatchOptions): ConversationDataset {
  const { maxLength = Number.POSITIVE_INFINITY, tooLong = 'truncate' } = options;
  const rows: MeasuredRow[] = [];
  const issues: ValidationIssue[] = [];
  let [longestTokens, truncatedRows, droppedRows, rowsWithoutTarget] = [0, 0, 0, 0];
  conversations.forEach((conversation, index) => {
    try {
      const full = renderConversation(conversation, { ...options, maxLength: undefined });
      const length = full.modelInput.length + 1;
      longestTokens = Math.max(longestTokens, length);
      if (length > maxLength && tooLong === 'refuse') throw new Error(`has ${length} tokens, more than maxLength (${maxLength}).`);
      if (length > maxLength && tooLong === 'drop') {
        droppedRows++;
        return;
      }
      const kept = length > maxLength ? renderConversation(conversation, options) : full;
      if (length > maxLength) truncatedRows++;
      if (!hasTarget(kept)) rowsWithoutTarget++;
      rows.push({ conversation, tokens: kept.modelInput.length });
    } catch (error) {
      issues.push({ path: `conversations[${index}]`, message: (error as Error).message });
    }
  });
  if (issues.length > 0) throw new ValidationError({ direction: 'request', subject: 'conversations', issues });
  const rowTokens = rows.map(({ tokens }) => tokens);
  const dataset = rowDataset({ ...options, rows, rowTokens, toData: ({ conversation }) => [renderConversation(conversation, options)] });
  const tokens = rowTokens.reduce((sum, count) => sum + count, 0);
  return { dataset, report: { rows: rows.length, tokens, longestTokens, truncatedRows, droppedRows, rowsWithoutTarget } };
}

function hasTarget({ lossFnInputs: { weights } }: Datum): boolean {
  return Array.prototype.some.call(numbersOf(weights), (weight) => weight > 0);
}

/** One conversation as an example, as `tooLong` says. For conversations that were not measured before. */
export function renderWithin(conversation: Conversation, options: RenderOptions): Datum {
  if (options.tooLong !== 'refuse') return renderConversation(conversation, options);
  const { maxLength = Number.POSITIVE_INFINITY } = options;
  const full = renderConversation(conversation, { ...options, maxLength: undefined });
  const length = full.modelInput.length + 1;
  if (length > maxLength) {
    throw new ConfigurationError({
      option: 'maxLength',
      message: `A conversation has ${length} tokens, more than maxLength (${maxLength}).`,
    });
  }
  return full;
}

/** One conversation as an example, with its tools declared in front. */
export function renderConversation(
  { messages, tools = [] }: Conversation,
  { renderer, trainOnWhat, maxLength, reduction }: RenderOptions,
): Datum {
  const all = tools.length === 0 ? messages : declareTools(messages, tools, renderer);
  return conversationToDatum(all, renderer, { trainOnWhat, maxLength, reduction });
}

function declareTools(messages: readonly Message[], tools: NonNullable<Conversation['tools']>, renderer: Renderer): Message[] {
  const [first, ...rest] = messages;
  if (first?.role !== 'system') return [...renderer.createConversationPrefixWithTools(tools), ...messages];
  if (typeof first.content !== 'string') {
    throw new ConfigurationError({ option: 'data', message: 'The system message of a conversation with tools must be text.' });
  }
  return [...renderer.createConversationPrefixWithTools(tools, first.content), ...rest];
}
