import { dumpJson, type PythonValue } from '../core/python-json.js';
import { isBlank, PYTHON_SPACE, strip } from '../core/python-text.js';
import type { ToolCall } from '../messages/message.js';
import { jsonOrText, ToolCallSyntaxError, toolCall } from './tool-calls.js';

const S = `[${PYTHON_SPACE}]*`;
const CALL = new RegExp(`^<tool_call>${S}([\\p{L}\\p{N}\\p{M}_\\-.]+)(.*)</tool_call>$`, 'su');
const PAIR = new RegExp(`<arg_key>(.*?)</arg_key>${S}<arg_value>(.*?)</arg_value>`, 'gs');

/** Reads `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>value</arg_value>…</tool_call>`. Values are JSON, or else text. */
export function parseGlmToolCall(block: string): ToolCall {
  const [, name, body = ''] = CALL.exec(block) ?? [];
  if (name === undefined) throw new ToolCallSyntaxError('Malformed GLM tool call');
  const parameters = new Map<string, PythonValue>();
  let end = 0;
  for (const match of body.matchAll(PAIR)) {
    const [pair, key = '', value = ''] = match;
    if (!isBlank(body.slice(end, match.index))) throw new ToolCallSyntaxError('Unexpected content between tool call arguments');
    if (isBlank(key)) throw new ToolCallSyntaxError('Empty tool call argument key');
    parameters.set(strip(key), jsonOrText(value));
    end = match.index + pair.length;
  }
  if (!isBlank(body.slice(end))) throw new ToolCallSyntaxError('Unexpected trailing content inside tool call');
  return toolCall(name, dumpJson(parameters));
}
