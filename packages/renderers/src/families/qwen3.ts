import type { Grammar } from '../core/grammar.js';
import type { MessageContext } from '../core/message-context.js';
import { ordinaryText } from '../core/pieces.js';
import { lstripNewlines, stripNewlines } from '../core/python-text.js';
import { hasThinking, removeThinking } from '../messages/content.js';
import type { ContentPart, Message } from '../messages/message.js';
import { stopTokenFormat } from '../parsing/stop-token-format.js';
import { chatmlHeader, IM_END, openTurn, parseChatmlText, TOOL_CALL, writeJsonCalls } from './chatml.js';
import { inlineThinking } from './content-rules.js';
import type { Family } from './family.js';
import { declareJsonTools } from './tool-declarations.js';

/** What the names of the family differ in. */
interface Qwen3Variant {
  /** Whether the answer begins with a thinking block, if only an empty one. */
  readonly framesThinking: boolean;
  readonly disablesThinking?: boolean;
}

const EMPTY_FRAME = frame('');

/** Thinking as the template pads it. */
function frame(thinking: string): string {
  return `<think>\n${stripNewlines(thinking)}\n</think>\n\n`;
}

/**
 * Qwen3 text models. Special tokens in content stay text; the content and `<|im_end|>` are separate pieces. Only the last answer keeps its thinking.
 *
 *     <|im_start|>user⏎
 *     Question<|im_end|>⏎
 *     <|im_start|>assistant⏎
 *     <think>⏎
 *     Thinking⏎
 *     </think>⏎
 *     ⏎
 *     Answer⏎
 *     <tool_call>⏎
 *     {"name": "search", "arguments": {"query": "x"}}⏎
 *     </tool_call><|im_end|>⏎
 *     <|im_start|>user⏎
 *     <tool_response>⏎
 *     Result⏎
 *     </tool_response><|im_end|>
 */
export function qwen3({ framesThinking, disablesThinking = false }: Qwen3Variant): Family {
  return ({ tokenizer, options }): Grammar => {
    const strips = options.stripThinkingFromHistory ?? true;

    function isFramed(message: Message, { isLast, lastUserIndex }: MessageContext): boolean {
      return framesThinking && message.role === 'assistant' && lastUserIndex >= 0 && (isLast || !strips);
    }

    function writeContent(message: Message, context: MessageContext): string {
      const isStripped = strips && message.role === 'assistant' && !context.isLast;
      const content = isStripped ? removeThinking(message.content) : message.content;
      const framed = isFramed(message, context);
      return typeof content === 'string' ? writeText(content, framed) : writeParts(content, framed);
    }

    return {
      hasExtensionProperty: !framesThinking || !strips,
      disablesThinking,
      renderMessage(message, context) {
        const header = [chatmlHeader(message.role, context.index)];
        if (disablesThinking && message.role === 'assistant' && context.isLast && context.lastUserIndex < 0 && message.content.length > 0) {
          throw context.invalid('role', 'is assistant, but no user message precedes it: there is no prompt that this answer could follow.');
        }
        const written = writeContent(message, context);
        const isEmptyFrame = isFramed(message, context) && !hasThinking(message.content);
        const content = isEmptyFrame ? `${EMPTY_FRAME}${lstripNewlines(written)}` : written;
        const wrapped = message.role === 'tool' ? `<tool_response>\n${content}\n</tool_response>` : content;
        const calls = message.toolCalls === undefined ? '' : `${written === '' ? '' : '\n'}${writeJsonCalls(message, context)}`;
        return { header, output: [ordinaryText(`${wrapped}${calls}`), IM_END] };
      },
      ...(disablesThinking ? { renderSuffix: (role, { index }) => [`${openTurn(role, index)}${EMPTY_FRAME}`] } : {}),
      declareTools: declareJsonTools,
      response: stopTokenFormat({
        tokenizer,
        stops: { [IM_END]: 'stop_sequence' },
        toolMarkers: [TOOL_CALL],
        parseText: (text) => parseChatmlText(text, { isFramed: framesThinking }),
      }),
      openAI: { hasReasoningContent: true },
    };
  };
}

function writeText(text: string, isFramed: boolean): string {
  const inline = isFramed ? inlineThinking(text) : undefined;
  return inline === undefined ? text : `${frame(inline.thinking)}${lstripNewlines(inline.rest)}`;
}

function writeParts(parts: readonly ContentPart[], isFramed: boolean): string {
  return parts
    .map((part, index) => {
      if (part.type === 'thinking') return isFramed ? frame(part.thinking) : `<think>${part.thinking}</think>`;
      if (part.type !== 'text') return '';
      return isFramed && parts[index - 1]?.type === 'thinking' ? lstripNewlines(part.text) : part.text;
    })
    .join('');
}
