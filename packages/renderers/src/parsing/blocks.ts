import { lstripNewlines, stripNewlines } from '../core/python-text.js';
import type { ContentPart } from '../messages/message.js';
import { parseJsonToolCall, readToolCall, type ToolCallResults } from './tool-calls.js';

/** Content with thinking and tool calls separated from text. */
export interface ContentBlocks extends ToolCallResults {
  readonly parts: ContentPart[];
}

const THINK = /<think>(.*?)<\/think>/gs;
const THINK_OR_TOOL = /<think>(.*?)<\/think>|<tool_call>(.*?)<\/tool_call>/gs;

/** Splits at `<think>` and `<tool_call>` blocks. Undefined when there are neither. Blocks that are not closed stay text. */
export function parseContentBlocks(text: string): ContentBlocks | undefined {
  return text.includes('<think>') || text.includes('<tool_call>') ? splitBlocks(text, THINK_OR_TOOL) : undefined;
}

/** Splits at `<think>` blocks. Undefined when there are none. */
export function parseThinkBlocks(text: string): ContentPart[] | undefined {
  return text.includes('<think>') ? splitBlocks(text, THINK).parts : undefined;
}

function splitBlocks(text: string, pattern: RegExp): ContentBlocks {
  const blocks: ContentBlocks = { parts: [], toolCalls: [], unparsedToolCalls: [] };
  let end = 0;
  const addText = (part: string) => {
    if (part !== '') blocks.parts.push({ type: 'text', text: part });
  };
  for (const match of text.matchAll(pattern)) {
    const [block, thinking, call] = match;
    addText(text.slice(end, match.index));
    if (thinking) blocks.parts.push({ type: 'thinking', thinking });
    if (call !== undefined) readToolCall(blocks, block, () => parseJsonToolCall(call));
    end = match.index + block.length;
  }
  addText(text.slice(end));
  return blocks;
}

/** Removes the newlines that a template writes around thinking, and thinking that consists of nothing else. */
export function unframeThinking(parts: readonly ContentPart[]): ContentPart[] {
  const unframed: ContentPart[] = [];
  parts.forEach((part, index) => {
    if (part.type === 'thinking') {
      const thinking = stripNewlines(part.thinking);
      if (thinking !== '') unframed.push({ type: 'thinking', thinking });
    } else if (part.type === 'text' && parts[index - 1]?.type === 'thinking') {
      unframed.push({ type: 'text', text: lstripNewlines(part.text) });
    } else unframed.push(part);
  });
  return unframed;
}
