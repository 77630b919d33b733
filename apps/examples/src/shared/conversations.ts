import { readFile } from 'node:fs/promises';
import type { Datum } from '@tinkex/types';

const ROLES = ['system', 'user', 'assistant'] as const;
type Role = (typeof ROLES)[number];

/** One line of the file: roles and messages. */
export interface Conversation {
  readonly messages: readonly { readonly role: Role; readonly content: string }[];
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
    'expected {"messages": [{"role": "system" | "user" | "assistant", "content": "…"}, …]}, with an answer by the assistant and no empty content';
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
    (message) => typeof message?.content === 'string' && message.content !== '' && ROLES.includes(message.role),
  );
  return isEachFine && messages.some(({ role }) => role === 'assistant');
}

/** The sum of the weights of all targets: divide a summed loss by it to get the loss per token. */
export function weightOf(data: readonly Datum[]): number {
  let sum = 0;
  for (const { lossFnInputs } of data) for (const weight of lossFnInputs.weights?.data ?? []) sum += Number(weight);
  return sum;
}
