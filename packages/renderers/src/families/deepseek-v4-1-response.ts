import { dumpJson, type PythonValue } from '../core/python-json.js';
import { isBlank } from '../core/python-text.js';
import type { ToolCall } from '../messages/message.js';
import { parseThinkBlocks } from '../parsing/blocks.js';
import type { ParsedText, ToolMarkers } from '../parsing/response-format.js';
import { findUnterminated, readJson, readToolCall, type ToolCallResults, ToolCallSyntaxError, toolCall } from '../parsing/tool-calls.js';

/** The tags around all calls of a message. */
export const DSML_CALLS: ToolMarkers = { open: '<｜DSML｜ calls>', close: '</｜DSML｜ calls>' };

const BLOCK = new RegExp(`(?:\n\n)?${DSML_CALLS.open}(.*?)${DSML_CALLS.close}`, 's');
const INVOKE = /<｜DSML｜ invoke name="([^"]*)">\n(.*?)<\/｜DSML｜ invoke>/gs;
const PARAMETER = /<｜DSML｜ parameter name="([^"]*)" string="(true|false)">(.*?)<\/｜DSML｜ parameter>/gs;
const INVALID = 'Invalid DSML: ';

/** Reads an answer with at most one block of calls, which must be its end. */
export function parseDsml(text: string): ParsedText {
  const results: ToolCallResults = { toolCalls: [], unparsedToolCalls: [] };
  const match = BLOCK.exec(text);
  const refuse = (rawText: string, problem: string) => results.unparsedToolCalls.push({ rawText, error: `${INVALID}${problem}` });
  let content = text;
  if (match !== null) {
    const [block, body = ''] = match;
    content = text.slice(0, match.index);
    const rest = text.slice(match.index + block.length);
    if (isBlank(body.replace(INVOKE, ''))) {
      for (const [invoke, name = '', parameters = ''] of body.matchAll(INVOKE))
        readToolCall(results, invoke, () => parseInvoke(name, parameters));
    } else refuse(block, 'malformed invoke');
    if (!isBlank(rest)) refuse(rest, 'output after calls block');
  }
  const unterminated = findUnterminated(text, DSML_CALLS);
  if (unterminated !== undefined) results.unparsedToolCalls.push(unterminated);
  else if (match === null && text.includes('｜DSML｜')) refuse(text, 'marker outside a calls block');
  return { content: parseThinkBlocks(content) ?? content, ...results };
}

function parseInvoke(name: string, body: string): ToolCall {
  if (isBlank(name)) throw new ToolCallSyntaxError(`${INVALID}empty function name`);
  const parameters = new Map<string, PythonValue>();
  if (!isBlank(body.replace(PARAMETER, ''))) throw new ToolCallSyntaxError(`${INVALID}text outside parameters`);
  for (const [, key = '', isText, value = ''] of body.matchAll(PARAMETER)) {
    if (isBlank(key)) throw new ToolCallSyntaxError(`${INVALID}empty parameter name`);
    if (parameters.has(key)) throw new ToolCallSyntaxError(`${INVALID}duplicate parameter '${key}'`);
    parameters.set(key, isText === 'true' ? value : readJson(value, INVALID));
  }
  return toolCall(name, dumpJson(parameters));
}
