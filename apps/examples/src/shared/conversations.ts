import { readFile } from 'node:fs/promises';
import { type Datum, encodedIds, nextTokenDatum, type Tokenizer } from '@tinkex/types';

/** One line of the file: roles and messages. */
export interface Conversation {
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
}

/** Reads a JSONL file of conversations. The error for an invalid line names the line. */
export async function readConversations(path: string): Promise<Conversation[]> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new Error(`The data file ${path} cannot be read: ${cause.code === 'ENOENT' ? 'there is no such file' : cause.message}`, {
      cause,
    });
  });
  const conversations = text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [parseLine(line, `${path}:${index + 1}`)]));
  if (conversations.length < 2)
    throw new Error(
      `${path}: at least two conversations are needed, one for training and one for validation; the file has ${conversations.length}.`,
    );
  return conversations;
}

function parseLine(line: string, where: string): Conversation {
  const expected =
    'expected {"messages": [{"role": "user" | "assistant", "content": "…"}, …]}, with an answer by the assistant and no empty content';
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new Error(`${where}: this line is not JSON; ${expected}`, { cause });
  }
  if (!isConversation(value)) throw new Error(`${where}: ${expected}`);
  return value;
}

function isConversation(value: unknown): value is Conversation {
  const { messages } = (value ?? {}) as { messages?: unknown };
  if (!Array.isArray(messages)) return false;
  const isEachFine = messages.every(
    (message) =>
      typeof message?.content === 'string' && message.content !== '' && (message.role === 'user' || message.role === 'assistant'),
  );
  return isEachFine && messages.some(({ role }) => role === 'assistant');
}

/** The text that the assistant continues. A chat model has its own template; this one suits any base model. */
export function promptOf(question: string): string {
  return `Q: ${question}\nA: `;
}

/** A conversation as a training example: the model reads everything, but only the assistant's words have weight. */
export function toDatum({ messages }: Conversation, tokenizer: Tokenizer): Datum {
  const tokens: number[] = [];
  const weights: number[] = [];
  for (const { role, content } of messages) {
    const text = role === 'user' ? promptOf(content) : `${content}\n`;
    for (const id of Array.from(encodedIds(tokenizer.encode(text)))) {
      tokens.push(id);
      weights.push(role === 'assistant' ? 1 : 0);
    }
  }
  return nextTokenDatum(tokens, { weights });
}

/** The sum of the weights of all targets: divide a summed loss by it to get the loss per token. */
export function weightOf(data: readonly Datum[]): number {
  let sum = 0;
  for (const { lossFnInputs } of data) for (const weight of lossFnInputs.weights?.data ?? []) sum += Number(weight);
  return sum;
}
