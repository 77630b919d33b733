import type { Grammar } from '../core/grammar.js';
import type { MessageContext } from '../core/message-context.js';
import type { Piece } from '../core/pieces.js';
import { fromPython, type PythonValue } from '../core/python-json.js';
import { lstrip, rstrip, strip } from '../core/python-text.js';
import { ensureParts, removeThinking } from '../messages/content.js';
import type { ContentPart, ImagePart, Message } from '../messages/message.js';
import type { ParsedText } from '../parsing/response-format.js';
import { stopTokenFormat } from '../parsing/stop-token-format.js';
import { readToolCall, type ToolCallResults } from '../parsing/tool-calls.js';
import { parseXmlToolCall } from '../parsing/xml-tool-call.js';
import { IM_END, mergeTexts, openTurn, parseChatmlText, TOOL_CALL } from './chatml.js';
import { loadArgumentObject, requireArgumentObject } from './content-rules.js';
import type { FamilySetup } from './family.js';

/** What the ChatML families with XML tool calls (Qwen3.5, Qwen3.8, Nemotron 3) differ in. */
export interface XmlChatmlRules {
  /** What a prompt ends with after the header: an open thinking block, or a closed one where thinking is off. */
  readonly promptThinking: string;
  readonly disablesThinking: boolean;
  readonly hasExtensionProperty: boolean;
  /** Whitespace at the edges of content that is not part of it. */
  trim(content: Message['content']): Message['content'];
  keepsThinking(message: Message, context: MessageContext): boolean;
  writeThinking(thinking: string): string;
  /** The thinking block that stands in the header of an assistant message without thinking. */
  writeHeaderThinking(message: Message, context: MessageContext): string;
  writeImage(image: ImagePart, context: MessageContext, before: readonly Piece[]): Piece[];
  writeToolResponse(content: readonly Piece[]): Piece[];
  /** What stands between the answers of two tools that were called together. */
  readonly toolResponseSeparator: string;
  /** What stands between the content and the first call. */
  writeCallsPrefix(content: Message['content']): string;
  writeScalar(value: PythonValue): string;
  /** What follows each call; between two of them there is one newline in any case. */
  readonly callSuffix: string;
  /** Text behind the first thinking block, without what the template puts there. */
  trimAnswer(text: string): string;
}

/** The grammar these families share. */
export function xmlChatml(
  { tokenizer }: FamilySetup,
  rules: XmlChatmlRules,
): Pick<Grammar, 'hasExtensionProperty' | 'disablesThinking' | 'renderMessage' | 'renderSuffix' | 'response' | 'openAI'> {
  const { promptThinking, disablesThinking, hasExtensionProperty } = rules;

  function writeContent(message: Message, context: MessageContext): Piece[] {
    const trimmed = rules.trim(message.content);
    const content = message.role !== 'assistant' || rules.keepsThinking(message, context) ? trimmed : removeThinking(trimmed);
    const pieces: Piece[] = [];
    for (const part of ensureParts(content)) pieces.push(...writePart(part, context, pieces));
    const calls = message.toolCalls === undefined ? '' : `${rules.writeCallsPrefix(trimmed)}${writeCalls(message, context)}`;
    return [...(message.role === 'tool' ? rules.writeToolResponse(pieces) : pieces), calls];
  }

  function writePart(part: ContentPart, context: MessageContext, before: readonly Piece[]): Piece[] {
    if (part.type === 'text') return [part.text];
    if (part.type === 'thinking') return [rules.writeThinking(part.thinking)];
    if (part.type === 'image') return rules.writeImage(part, context, before);
    throw context.invalid('content', `has a part of type ${part.type}, which this template does not know.`);
  }

  function writeCalls({ toolCalls = [] }: Message, context: MessageContext): string {
    const calls = toolCalls.map((call) => {
      const parameters = [...loadArgumentObject(call, context)].map(
        ([key, value]) => `<parameter=${key}>\n${rules.writeScalar(value)}\n</parameter>\n`,
      );
      return `<tool_call>\n<function=${call.function.name}>\n${parameters.join('')}</function>\n</tool_call>`;
    });
    return `${calls.join('\n')}${calls.length === 0 ? '' : rules.callSuffix}`;
  }

  return {
    hasExtensionProperty,
    disablesThinking,
    renderMessage(message, context) {
      const { role } = message;
      const { index, isLast } = context;
      // The answers of tools that were called together share one user turn.
      const continues = role === 'tool' && context.previous?.role === 'tool';
      const isClosed = role !== 'tool' || context.next?.role !== 'tool';
      const header = continues ? rules.toolResponseSeparator : openTurn(role === 'tool' ? 'user' : role, index);
      const output = [...writeContent(message, context), isClosed ? IM_END : ''];
      if (role !== 'assistant') return { header: [header], output: mergeTexts(output) };
      const thinking = rules.writeHeaderThinking(message, context);
      // What a prompt ends with stays in the header of the message that would answer it; the rest is the model's to write.
      if (isLast && thinking.startsWith(promptThinking)) {
        return { header: [`${header}${promptThinking}`], output: [thinking.slice(promptThinking.length), ...mergeTexts(output)] };
      }
      return { header: [`${header}${thinking}`], output: mergeTexts(output) };
    },
    renderSuffix: (role, { index }) => [`${openTurn(role, index)}${promptThinking}`],
    response: stopTokenFormat({
      tokenizer,
      stops: { [IM_END]: 'stop_sequence' },
      opening: '<think>\n',
      opensThinking: !disablesThinking,
      toolMarkers: [TOOL_CALL],
      parseText: (text) => parseXmlChatmlText(text, rules),
    }),
    openAI: { hasReasoningContent: true, parseArguments: (text) => fromPython(requireArgumentObject(text)) },
  };
}

function parseXmlChatmlText(text: string, { trimAnswer }: XmlChatmlRules): ParsedText {
  const { content, toolCalls = [], unparsedToolCalls = [] } = parseChatmlText(text, { isFramed: true });
  const results: ToolCallResults = { toolCalls: [...toolCalls], unparsedToolCalls: [] };
  for (const call of unparsedToolCalls) {
    const isXml = call.rawText.includes('<function=') && !call.error.startsWith('unterminated');
    if (isXml) readToolCall(results, call.rawText, () => parseXmlToolCall(call.rawText));
    else results.unparsedToolCalls.push(call);
  }
  return { content: typeof content === 'string' ? content : trimFirstThinking(content, trimAnswer), ...results };
}

/** Thinking without whitespace around it, up to the first text behind it, which loses what the template puts there. */
function trimFirstThinking(parts: readonly ContentPart[], trimAnswer: (text: string) => string): ContentPart[] {
  const firstThinking = parts.findIndex(({ type }) => type === 'thinking');
  const answer = firstThinking < 0 ? -1 : parts.findIndex(({ type }, index) => type === 'text' && index > firstThinking);
  return parts.map((part, index) => {
    if (part.type === 'thinking' && (answer < 0 || index < answer)) return { type: 'thinking', thinking: strip(part.thinking) };
    return part.type === 'text' && index === answer ? { type: 'text', text: trimAnswer(part.text) } : part;
  });
}

/** The content of a list without whitespace at its outer edges; thinking is passed over, images stop it. */
export function trimParts(parts: readonly ContentPart[]): readonly ContentPart[] {
  return trimEdge(trimEdge(parts, lstrip).toReversed(), rstrip).toReversed();
}

function trimEdge(parts: readonly ContentPart[], trim: (text: string) => string): readonly ContentPart[] {
  let isAtEdge = true;
  return parts.map((part) => {
    if (part.type === 'thinking' || !isAtEdge) return part;
    if (part.type !== 'text') {
      isAtEdge = false;
      return part;
    }
    const text = trim(part.text);
    isAtEdge = text === '';
    return { type: 'text', text };
  });
}
