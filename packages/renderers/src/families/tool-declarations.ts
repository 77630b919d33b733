import { dumpJson, type PythonDict, toPython } from '../core/python-json.js';
import type { Message } from '../messages/message.js';
import type { ToolSpec } from '../messages/tool.js';
import { QWEN3, QWEN3_5 } from './tool-preambles.js';

/** `{"type": "function", "function": tool}`. */
export function wrapTool(tool: ToolSpec): PythonDict {
  return new Map([
    ['type', 'function'],
    ['function', toPython(tool)],
  ] as const);
}

/** Qwen3: the system prompt, then the tools as JSON. */
export function declareJsonTools(tools: readonly ToolSpec[], systemPrompt: string): Message[] {
  const block = tools.length === 0 ? '' : QWEN3(tools.map((tool) => dumpJson(wrapTool(tool))).join('\n'));
  return [{ role: 'system', content: `${systemPrompt === '' ? '' : `${systemPrompt}\n\n`}${block}` }];
}

/** Qwen3.5 and Qwen3.8: the tools as JSON, then the system prompt. */
export function declareXmlTools(tools: readonly ToolSpec[], systemPrompt: string): Message[] {
  const block = tools.length === 0 ? '' : QWEN3_5(tools.map((tool) => dumpJson(toPython(tool))).join('\n'));
  return [{ role: 'system', content: [block, systemPrompt].filter((text) => text !== '').join('\n\n') }];
}
