import type { Grammar, RenderedMessage } from '../core/grammar.js';
import type { MessageContext } from '../core/message-context.js';
import type { Piece } from '../core/pieces.js';
import { dumpJson, fromPython, isDict, type PythonDict, toPython } from '../core/python-json.js';
import { tryLoadJson } from '../core/python-json-reader.js';
import { decodeTokens } from '../core/token-text.js';
import type { RendererTokenizer } from '../core/tokenizer.js';
import { ensureParts, textOf, thinkingOf } from '../messages/content.js';
import type { Message } from '../messages/message.js';
import { stopTokenFormat } from '../parsing/stop-token-format.js';
import { declaresTools, isUserSide, prepareDeepseekV41 } from './deepseek-v4-1-conversation.js';
import { DSML_CALLS, parseDsml } from './deepseek-v4-1-response.js';
import type { Family } from './family.js';
import { wrapTool } from './tool-declarations.js';

const EOS = '<｜end▁of▁sentence｜>';

/**
 * DeepSeek V4.1. With a budget from 1 to 100 it thinks; without one it answers directly.
 *
 *     <｜begin▁of▁sentence｜><｜System｜>Reasoning Effort: 75 (…)⏎
 *     ⏎
 *     System<｜User｜>Question<｜Assistant｜><think>Thinking</think>Answer⏎
 *     ⏎
 *     <｜DSML｜ calls>⏎
 *     <｜DSML｜ invoke name="search">⏎
 *     <｜DSML｜ parameter name="query" string="true">x</｜DSML｜ parameter>⏎
 *     </｜DSML｜ invoke>⏎
 *     </｜DSML｜ calls><｜end▁of▁sentence｜><｜User｜><tool_result>Result</tool_result>
 */
export function deepseekV41({ budget, stripsByDefault = true }: { readonly budget?: number; readonly stripsByDefault?: boolean }): Family {
  const thinks = budget !== undefined;
  const effort = `Reasoning Effort: ${budget} (range 1-100, the higher the value, the more thorough the reasoning)\n\n`;
  return ({ tokenizer, options }): Grammar => {
    const strips = options.stripThinkingFromHistory ?? stripsByDefault;

    /** What stands before the first message. */
    function writeOpening({ index, messages }: MessageContext): string {
      if (index > 0) return '';
      return thinks ? `<｜System｜>${effort}` : messages[0]?.role === 'system' ? '<｜System｜>' : '';
    }

    function keepsThinking({ index, messages }: MessageContext): boolean {
      return thinks && index > droppedThrough(messages, strips);
    }

    function renderAssistant(message: Message, context: MessageContext): RenderedMessage {
      checkParts(message, context);
      const { previous, index } = context;
      const answers = isUserSide(previous) || (previous?.role === 'system' && index > 1);
      const marker = answers ? `<｜Assistant｜>${keepsThinking(context) ? '<think>' : '</think>'}` : '';
      const thinking = keepsThinking(context) ? `${thinkingOf(message.content)}</think>` : '';
      return {
        header: [`${writeOpening(context)}${marker}`],
        output: [`${thinking}${textOf(message.content)}${writeCalls(message)}${EOS}`],
      };
    }

    return {
      bos: '<｜begin▁of▁sentence｜>',
      hasExtensionProperty: !thinks || !strips,
      prepare: prepareDeepseekV41,
      renderMessage(message, context) {
        if (message.role === 'assistant') return renderAssistant(message, context);
        const text = textOf(message.content);
        const opening = writeOpening(context);
        switch (message.role) {
          case 'system':
            return splitAtHeader(opening === '' ? '<｜System｜>' : opening, text, tokenizer);
          case 'user':
          case 'tool':
            // The first of a run speaks for all of it.
            return isUserSide(context.previous) ? { output: [] } : { header: [`${opening}<｜User｜>`], output: [text] };
          case 'tool_declare':
            return { output: [] };
          default:
            throw context.invalid(
              'role',
              `${message.role} is unknown to this template. Use system, user, assistant, tool or tool_declare.`,
            );
        }
      },
      turnStart: (messages) => messages.findLastIndex(({ role }, index) => role === 'user' || (role === 'system' && index > 0)) + 1,
      declareTools: (tools, systemPrompt) => [
        ...(systemPrompt === '' ? [] : [{ role: 'system', content: systemPrompt }]),
        ...(tools.length === 0 ? [] : [{ role: 'tool_declare', content: dumpJson(tools.map(wrapTool)) }]),
      ],
      response: stopTokenFormat({
        tokenizer,
        stops: { [EOS]: 'stop_sequence' },
        opening: thinks ? '<think>' : undefined,
        opensThinking: thinks,
        toolMarkers: [DSML_CALLS],
        parseText: parseDsml,
      }),
      openAI: { hasReasoningContent: true, requiresSingleText: true, parseArguments: (text) => fromPython(parametersOf(text)) },
    };
  };
}

/** The last message whose predecessors lose their thinking. */
function droppedThrough(messages: readonly Message[], strips: boolean): number {
  if (!strips || declaresTools(messages)) return -1;
  return messages.findLastIndex((message, index) => isUserSide(message) || (message.role === 'system' && index > 0));
}

function checkParts({ content }: Message, context: MessageContext): void {
  const other = ensureParts(content).find(({ type }) => type !== 'text' && type !== 'thinking');
  if (other !== undefined) throw context.invalid('content', `has a part of type ${other.type}, which this template does not know.`);
}

/** Header and text are encoded together. A token that holds the end of the one and the beginning of the other counts as header. */
function splitAtHeader(header: string, text: string, tokenizer: RendererTokenizer): RenderedMessage {
  const tokens = Array.from(tokenizer.encode(`${header}${text}`));
  let end = 0;
  while (end < tokens.length && decodeTokens(tokenizer, tokens.slice(0, end)).length < header.length) end += 1;
  const piece = (part: readonly number[]): Piece => ({ tokens: part });
  return { header: [piece(tokens.slice(0, end))], output: [piece(tokens.slice(end))] };
}

function writeCalls({ toolCalls = [] }: Message): string {
  const invokes = toolCalls.map(({ function: { name, arguments: args } }) => {
    const parameters = [...parametersOf(args)].map(([key, value]) => {
      const isText = typeof value === 'string';
      return `<｜DSML｜ parameter name="${key}" string="${isText}">${isText ? value : dumpJson(value, { raw: true })}</｜DSML｜ parameter>`;
    });
    return `<｜DSML｜ invoke name="${name}">\n${parameters.join('\n')}\n</｜DSML｜ invoke>`;
  });
  return invokes.length === 0 ? '' : `\n\n${DSML_CALLS.open}\n${invokes.join('\n')}\n${DSML_CALLS.close}`;
}

/** Arguments as parameters. They may be JSON inside JSON text; what is not an object becomes the one parameter `arguments`. */
function parametersOf(text: string): PythonDict {
  let value = tryLoadJson(text);
  if (typeof value === 'string') value = tryLoadJson(value);
  return value !== undefined && isDict(value) ? value : new Map([['arguments', toPython(text)]]);
}
