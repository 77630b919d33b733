import { dumpJson, isDict, type PythonValue } from '../core/python-json.js';
import { JsonSyntaxError, loadJson } from '../core/python-json-reader.js';
import { firstCodePoints, strip } from '../core/python-text.js';
import type { ToolCall, UnparsedToolCall } from '../messages/message.js';
import type { ToolMarkers } from './response-format.js';

/** What became of the tool calls in a response. */
export interface ToolCallResults {
  readonly toolCalls: ToolCall[];
  readonly unparsedToolCalls: UnparsedToolCall[];
}

const MAX_RAW_CODE_POINTS = 16384;

/** A tool call that cannot be read. The message is what {@link UnparsedToolCall.error} says. */
export class ToolCallSyntaxError extends Error {
  override readonly name = 'ToolCallSyntaxError';
}

/** A call as messages hold it. */
export function toolCall(name: string, args: string, id?: string): ToolCall {
  return { type: 'function', id, function: { name, arguments: args } };
}

/** Reads a call with `read`; what that refuses is kept as unparsed, with its raw text. */
export function readToolCall(results: ToolCallResults, rawText: string, read: () => ToolCall): void {
  try {
    results.toolCalls.push(read());
  } catch (error) {
    if (!(error instanceof ToolCallSyntaxError)) throw error;
    results.unparsedToolCalls.push({ rawText, error: error.message });
  }
}

/** Reads JSON in a tool call. */
export function readJson(text: string, prefix = 'Invalid JSON: '): PythonValue {
  try {
    return loadJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new ToolCallSyntaxError(`${prefix}${error.message}`);
    throw error;
  }
}

/** A call written as `{"name": …, "arguments": {…}}`. */
export function parseJsonToolCall(text: string): ToolCall {
  const value = readJson(strip(text));
  if (!isDict(value)) throw new ToolCallSyntaxError('Tool call is not a JSON object');
  const [name, args, id] = [value.get('name'), value.get('arguments'), value.get('id')];
  if (typeof name !== 'string') throw new ToolCallSyntaxError("Missing or invalid 'name' field");
  if (args === undefined || !isDict(args)) throw new ToolCallSyntaxError("Missing or invalid 'arguments' field");
  return toolCall(name, dumpJson(args), typeof id === 'string' ? id : undefined);
}

/** A call whose arguments are JSON of any kind, kept as they were written. */
export function verbatimToolCall(name: string, args: string, id?: string): ToolCall {
  const stripped = strip(args);
  readJson(stripped);
  return toolCall(name, stripped, id);
}

/** The value of an argument that is JSON or, if it is not, just text. */
export function jsonOrText(text: string): PythonValue {
  try {
    return loadJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return text;
    throw error;
  }
}

/** A block that was opened and not closed: the response was cut inside it. Its text also stays in the content. */
export function findUnterminated(text: string, { open, close }: ToolMarkers): UnparsedToolCall | undefined {
  if (countOf(text, open) <= countOf(text, close)) return undefined;
  return {
    rawText: firstCodePoints(text.slice(text.lastIndexOf(open)), MAX_RAW_CODE_POINTS),
    error: `unterminated tool block: '${open}' opened without a matching '${close}'`,
  };
}

export function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}
