import { readFile } from 'node:fs/promises';
import { type Datum, encodedIds, nextTokenDatum, type Tokenizer } from '@tinkex/types';

/** One line of the file: who said what. */
export interface Conversation {
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
}

/** Reads a JSONL file of conversations. A line that is none is an error that names the line. */
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
    throw new Error(`${path}: at least two conversations are needed, one to train on and one to validate; it has ${conversations.length}.`);
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

/** The text that the assistant is to go on from. A chat model has a template of its own; this one suits any base model. */
export function promptOf(question: string): string {
  return `Q: ${question}\nA: `;
}

/** A conversation as an example to train on: everything is read, only the assistant's words weigh. */
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

/** The sum of the weights of all targets: what a summed loss is divided by to get the loss of a token. */
export function weightOf(data: readonly Datum[]): number {
  let sum = 0;
  for (const { lossFnInputs } of data) for (const weight of lossFnInputs.weights?.data ?? []) sum += Number(weight);
  return sum;
}
