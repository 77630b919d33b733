import { dumpJson, type PythonValue } from '../core/python-json.js';
import { isBlank, PYTHON_SPACE, strip } from '../core/python-text.js';
import type { ToolCall } from '../messages/message.js';
import { jsonOrText, ToolCallSyntaxError, toolCall } from './tool-calls.js';

const SPACES = `[${PYTHON_SPACE}]*`;
const CALL = new RegExp(`^<tool_call>${SPACES}<function=([^>\\n]*)>(.*?)</function>${SPACES}</tool_call>$`, 's');
const PARAMETER = /<parameter=([^>\n]+)>(.*?)<\/parameter>/gs;

/** Reads `<tool_call><function=NAME><parameter=KEY>value</parameter>…</function></tool_call>`. Values are JSON, or else text. */
export function parseXmlToolCall(block: string): ToolCall {
  const [, name, body] = CALL.exec(block) ?? [];
  if (name === undefined || body === undefined) throw new ToolCallSyntaxError('Malformed Qwen3.5 tool call XML');
  if (isBlank(name)) throw new ToolCallSyntaxError('Missing function name');
  return toolCall(strip(name), dumpJson(parseParameters(body)));
}

function parseParameters(body: string): Map<string, PythonValue> {
  const parameters = new Map<string, PythonValue>();
  let end = 0;
  for (const match of body.matchAll(PARAMETER)) {
    const [parameter, key = '', value = ''] = match;
    if (!isBlank(body.slice(end, match.index))) throw new ToolCallSyntaxError('Unexpected non-parameter content inside <function> block');
    if (isBlank(key)) throw new ToolCallSyntaxError('Empty parameter name');
    parameters.set(strip(key), jsonOrText(strip(value)));
    end = match.index + parameter.length;
  }
  if (!isBlank(body.slice(end))) throw new ToolCallSyntaxError('Unexpected trailing content inside <function> block');
  return parameters;
}
