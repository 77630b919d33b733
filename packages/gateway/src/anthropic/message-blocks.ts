import type { ContentPart, Message, ToolCall } from '@tinkex/renderers';
import * as z from 'zod';

const TEXT = z.looseObject({ type: z.literal('text'), text: z.string() });
const IMAGE = z.looseObject({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('base64'), media_type: z.string(), data: z.string() }),
    z.looseObject({ type: z.literal('url'), url: z.string() }),
  ]),
});

/** The blocks a message may have. */
export const BLOCK = z.discriminatedUnion('type', [
  TEXT,
  IMAGE,
  z.looseObject({ type: z.literal('thinking'), thinking: z.string() }),
  z.looseObject({ type: z.literal('redacted_thinking') }),
  z.looseObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.record(z.string(), z.unknown()) }),
  z.looseObject({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [TEXT, IMAGE]))]).nullish(),
  }),
]);

type Block = z.infer<typeof BLOCK>;

/** A message of a request. */
export interface AnthropicMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly Block[];
}

/**
 * The messages of a request as our own. The results of tools, which Anthropic puts into the user's message, become tool messages; their names come from the calls they
 * answer.
 */
export function decodeMessages(messages: readonly AnthropicMessage[]): Message[] {
  const toolNames = new Map<string, string>();
  return messages.flatMap(({ role, content }): Message[] => {
    if (typeof content === 'string') return [{ role, content }];
    for (const block of content) if (block.type === 'tool_use') toolNames.set(block.id, block.name);
    const results = content.flatMap((block) => (block.type === 'tool_result' ? [toolMessage(block, toolNames)] : []));
    const parts = content.flatMap(partsOf);
    const toolCalls = content.flatMap(callsOf);
    if (parts.length === 0 && toolCalls.length === 0) return results;
    return [...results, { role, content: parts, ...(toolCalls.length === 0 ? {} : { toolCalls }) }];
  });
}

function toolMessage(block: Extract<Block, { type: 'tool_result' }>, names: ReadonlyMap<string, string>): Message {
  const { tool_use_id: toolCallId, content } = block;
  return {
    role: 'tool',
    toolCallId,
    name: names.get(toolCallId),
    content: typeof content === 'string' ? content : (content ?? []).flatMap(partsOf),
  };
}

function partsOf(block: Block): ContentPart[] {
  if (block.type === 'text') return [{ type: 'text', text: block.text }];
  if (block.type === 'thinking') return [{ type: 'thinking', thinking: block.thinking }];
  if (block.type !== 'image') return [];
  const { source } = block;
  return [{ type: 'image', image: source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}` }];
}

function callsOf(block: Block): ToolCall[] {
  if (block.type !== 'tool_use') return [];
  return [{ type: 'function', id: block.id, function: { name: block.name, arguments: JSON.stringify(block.input) } }];
}
