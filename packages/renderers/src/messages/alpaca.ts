import { singleText } from './content.js';
import type { Conversation } from './conversation.js';
import { invalid, isAbsent, type Json, listAt, objectAt, stringAt } from './json-fields.js';
import type { Message } from './message.js';

/**
 * Reads an Alpaca record: `{ "instruction", "input", "output", "system", "history": [[question, answer]] }`. An input follows its instruction on a new
 * line. Throws a `ValidationError` that names the field.
 */
export function fromAlpaca(record: unknown, path = 'record'): Conversation {
  const { instruction, input, output, system, history } = objectAt(record, path);
  const question = stringAt(instruction, `${path}.instruction`);
  const details = isAbsent(input) ? '' : stringAt(input, `${path}.input`);
  const turns = isAbsent(history) ? [] : listAt(history, `${path}.history`, decodePair);
  const prompt = isAbsent(system) ? '' : stringAt(system, `${path}.system`);
  return {
    messages: [
      ...(prompt === '' ? [] : [{ role: 'system', content: prompt }]),
      ...turns.flat(),
      { role: 'user', content: details === '' ? question : `${question}\n${details}` },
      { role: 'assistant', content: stringAt(output, `${path}.output`) },
    ],
  };
}

/** Writes a conversation of texts that ends with an answer as an Alpaca record. Throws a `ValidationError` for any other. */
export function toAlpaca({ messages }: Conversation): Json {
  const [first] = messages;
  const system = first?.role === 'system' ? [first] : [];
  const turns = messages.slice(system.length);
  const texts = turns.map((message, index) => requireTurn(message, index, index + system.length));
  if (texts.length === 0 || texts.length % 2 === 1) throw invalid('messages', 'must end with an answer of the assistant to a user message');
  const pairs = Array.from({ length: texts.length / 2 }, (_, index) => [texts[index * 2] as string, texts[index * 2 + 1] as string]);
  const [instruction, output] = pairs.pop() as [string, string];
  return {
    instruction,
    input: '',
    output,
    ...(system.length === 0 ? {} : { system: textAt(first as Message, 0) }),
    ...(pairs.length === 0 ? {} : { history: pairs }),
  };
}

function decodePair(json: unknown, path: string): [Message, Message] {
  const [question, answer] = listAt(json, path, stringAt);
  if (question === undefined || answer === undefined) throw invalid(path, 'must be a question and an answer');
  return [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ];
}

function requireTurn(message: Message, turn: number, index: number): string {
  const expected = turn % 2 === 0 ? 'user' : 'assistant';
  if (message.role !== expected)
    throw invalid(`messages[${index}].role`, `must be ${expected}, because questions and answers alternate in this format`);
  if (message.toolCalls !== undefined && message.toolCalls.length > 0)
    throw invalid(`messages[${index}].toolCalls`, 'cannot be written in this format');
  return textAt(message, index);
}

function textAt({ content }: Message, index: number): string {
  const text = singleText(content);
  if (text === undefined) throw invalid(`messages[${index}].content`, 'must be text in this format');
  return text;
}
