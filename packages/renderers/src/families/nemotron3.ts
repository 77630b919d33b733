import type { MessageContext } from '../core/message-context.js';
import type { Piece } from '../core/pieces.js';
import { strip } from '../core/python-text.js';
import { ensureParts, hasThinking, hasThinkingPart, textOf } from '../messages/content.js';
import type { ImagePart, Message } from '../messages/message.js';
import { type XmlChatmlRules, xmlChatml } from './chatml-xml.js';
import type { Family } from './family.js';
import { imagePiece } from './images.js';
import { declareNemotronTools } from './nemotron3-tools.js';
import { writeAsPython } from './qwen3-5.js';

/** What the names of the family differ in. */
interface Nemotron3Variant {
  /** Nemotron 3 Ultra and Nemotron 3.5. */
  readonly isUltra?: boolean;
  readonly disablesThinking?: boolean;
  readonly stripsByDefault?: boolean;
  /** What the last user message ends with, so that the model thinks less. */
  readonly effortSuffix?: string;
}

const EMPTY_THINKING = '<think></think>';
export const LOW_EFFORT = '\n\n{reasoning effort: low}';
export const MEDIUM_EFFORT = '\n\n{reasoning effort: efficient}';

/**
 * Nemotron 3 and 3.5. There is always a system message; thinking of the current turn is kept. Calls are those of Qwen3.5.
 *
 *     <|im_start|>system⏎
 *     <|im_end|>⏎
 *     <|im_start|>user⏎
 *     Question<|im_end|>⏎
 *     <|im_start|>assistant⏎
 *     <think>⏎
 *     Thinking⏎
 *     </think>⏎
 *     Answer<|im_end|>
 */
export function nemotron3(variant: Nemotron3Variant = {}): Family {
  const { isUltra = false, disablesThinking = false, stripsByDefault = true, effortSuffix = '' } = variant;
  return (setup) => {
    const strips = setup.options.stripThinkingFromHistory ?? stripsByDefault;
    const isHistory = ({ index, lastUserIndex }: MessageContext) => strips && index < lastUserIndex;

    function writeHeaderThinking({ content, toolCalls = [] }: Message, context: MessageContext): string {
      if (hasThinking(content) && !isHistory(context)) return '';
      const isAnswer = hasThinkingPart(content) && textOf(content) !== '' && toolCalls.length === 0;
      return !isUltra && isHistory(context) && isAnswer ? `${EMPTY_THINKING}\n` : EMPTY_THINKING;
    }

    const rules: XmlChatmlRules = {
      promptThinking: disablesThinking ? EMPTY_THINKING : '<think>\n',
      disablesThinking,
      hasExtensionProperty: !strips,
      trim: (content) => (typeof content === 'string' ? strip(content) : content),
      keepsThinking: (_message, context) => !isHistory(context),
      writeHeaderThinking,
      writeThinking: (thinking) => (isUltra ? `<think>\n${thinking}</think>` : `<think>\n${thinking}\n</think>\n`),
      writeImage: (image, context, before) => writeImage(image, context, before, imagePiece(image, context, setup.options)),
      writeToolResponse: (content) => ['<tool_response>\n', ...content, '\n</tool_response>\n'],
      toolResponseSeparator: '',
      writeCallsPrefix: (content) => (!isUltra && hasThinkingPart(content) && textOf(content) === '' ? '' : '\n'),
      writeScalar: writeAsPython,
      callSuffix: '\n',
      trimAnswer: (text) => (isUltra ? text : text.replace(/^\n/, '')).replace(/^\n\n/, ''),
    };
    return {
      ...xmlChatml(setup, rules),
      prepare: (messages) =>
        addEffort(messages[0]?.role === 'system' ? messages : [{ role: 'system', content: '' }, ...messages], effortSuffix),
      declareTools: declareNemotronTools,
    };
  };
}

/** An image on a new line, numbered if there are several. */
function writeImage(image: ImagePart, { messages, index }: MessageContext, before: readonly Piece[], piece: Piece): Piece[] {
  const images = ensureParts(messages[index]?.content ?? '').filter(({ type }) => type === 'image');
  const label = images.length > 1 ? `<image ${images.indexOf(image) + 1}>` : '';
  const lastImage = before.findLastIndex((earlier) => typeof earlier !== 'string');
  // The text since the image before, without the tag that closed it.
  const text = before.slice(lastImage < 0 ? 0 : lastImage + 2).findLast((earlier) => earlier !== '') ?? '';
  const newline = typeof text === 'string' && text !== '' && !text.endsWith('\n') ? '\n' : '';
  return [`${newline}${label}<img>`, piece, '</img>'];
}

function addEffort(messages: readonly Message[], suffix: string): readonly Message[] {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  if (suffix === '' || last < 0) return messages;
  return messages.map((message, index) => {
    if (index !== last) return message;
    const { content } = message;
    return { ...message, content: typeof content === 'string' ? `${content}${suffix}` : [...content, { type: 'text', text: suffix }] };
  });
}
