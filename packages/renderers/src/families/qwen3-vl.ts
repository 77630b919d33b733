import type { Grammar } from '../core/grammar.js';
import type { MessageContext } from '../core/message-context.js';
import type { Piece } from '../core/pieces.js';
import { ensureParts, removeThinking } from '../messages/content.js';
import type { Message } from '../messages/message.js';
import { stopTokenFormat } from '../parsing/stop-token-format.js';
import { chatmlHeader, IM_END, mergeTexts, parseChatmlText, TOOL_CALL, writeJsonCalls } from './chatml.js';
import type { Family } from './family.js';
import { imagePiece } from './images.js';
import { declareJsonTools } from './tool-declarations.js';

/**
 * Qwen3 vision models. Thinking is not padded; the names differ only in how responses are read.
 *
 *     <|im_start|>user⏎
 *     <|vision_start|>(image)<|vision_end|>Question<|im_end|>⏎
 *     <|im_start|>assistant⏎
 *     <think>Thinking</think>Answer<|im_end|>
 */
export function qwen3Vl({ framesThinking }: { readonly framesThinking: boolean }): Family {
  return ({ tokenizer, options }): Grammar => {
    const strips = options.stripThinkingFromHistory ?? true;

    function writeParts(message: Message, context: MessageContext): Piece[] {
      const isStripped = strips && message.role === 'assistant' && !context.isLast;
      const content = isStripped ? removeThinking(message.content) : message.content;
      return ensureParts(content).flatMap((part): Piece[] => {
        if (part.type === 'text') return [part.text];
        if (part.type === 'thinking') return [`<think>${part.thinking}</think>`];
        return ['<|vision_start|>', imagePiece(part, context, options), '<|vision_end|>'];
      });
    }

    return {
      hasExtensionProperty: !strips,
      renderMessage(message, context) {
        const parts = writeParts(message, context);
        const content = message.role === 'tool' ? ['<tool_response>\n', ...parts, '\n</tool_response>'] : parts;
        const calls = message.toolCalls === undefined ? '' : `\n${writeJsonCalls(message, context)}`;
        return { header: [chatmlHeader(message.role, context.index)], output: mergeTexts([...content, calls, IM_END]) };
      },
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
