import { dumpJson, type PythonValue, pythonStr } from '../core/python-json.js';
import { isBlank, strip } from '../core/python-text.js';
import { ensureParts, hasThinking } from '../messages/content.js';
import type { Message } from '../messages/message.js';
import { trimParts, type XmlChatmlRules, xmlChatml } from './chatml-xml.js';
import type { Family, FamilySetup } from './family.js';
import { imagePiece } from './images.js';
import { declareXmlTools } from './tool-declarations.js';

/** A thinking block without thinking. */
export const EMPTY_THINKING = '<think>\n\n</think>\n\n';

/**
 * Qwen3.5 and Qwen3.6. The prompt ends with `<think>⏎`.
 *
 *     <|im_start|>assistant⏎
 *     <think>⏎
 *     Thinking⏎
 *     </think>⏎
 *     ⏎
 *     Answer⏎
 *     ⏎
 *     <tool_call>⏎
 *     <function=search>⏎
 *     <parameter=query>⏎
 *     x⏎
 *     </parameter>⏎
 *     </function>⏎
 *     </tool_call><|im_end|>⏎
 *     <|im_start|>user⏎
 *     <tool_response>⏎
 *     Result⏎
 *     </tool_response>⏎
 *     <tool_response>⏎
 *     Result of another call⏎
 *     </tool_response><|im_end|>
 */
export function qwen35({ disablesThinking = false, stripsByDefault = true } = {}): Family {
  return (setup) => {
    const strips = setup.options.stripThinkingFromHistory ?? stripsByDefault;
    return {
      ...xmlChatml(setup, {
        ...qwen35Rules(setup, disablesThinking),
        keepsThinking: (_message, { isLast }) => isLast || !strips,
        writeHeaderThinking: ({ content }, { index, lastUserIndex }) =>
          index > lastUserIndex && !hasThinking(content) ? EMPTY_THINKING : '',
        writeScalar: writeAsPython,
      }),
      declareTools: declareXmlTools,
    };
  };
}

/** What Qwen3.5 and Qwen3.8 have in common. */
export function qwen35Rules(
  { options }: FamilySetup,
  disablesThinking: boolean,
): Omit<XmlChatmlRules, 'keepsThinking' | 'writeHeaderThinking' | 'writeScalar'> {
  return {
    promptThinking: disablesThinking ? EMPTY_THINKING : '<think>\n',
    disablesThinking,
    hasExtensionProperty: false,
    trim: (content) => (typeof content === 'string' ? strip(content) : trimParts(content)),
    writeThinking: (thinking) => `<think>\n${thinking}\n</think>\n\n`,
    writeImage: (image, context) => ['<|vision_start|>', imagePiece(image, context, options), '<|vision_end|>'],
    writeToolResponse: (content) => ['<tool_response>\n', ...content, '\n</tool_response>'],
    toolResponseSeparator: '\n',
    writeCallsPrefix: (content) => (isVisible(content) ? '\n\n' : ''),
    callSuffix: '',
    trimAnswer: (text) => text.replace(/^\n\n/, ''),
  };
}

/** Whether a reader sees anything: text that is not blank, or an image. */
function isVisible(content: Message['content']): boolean {
  return ensureParts(content).some((part) => part.type === 'image' || (part.type === 'text' && !isBlank(part.text)));
}

/** Objects and lists as JSON, everything else as Python prints it: `True`, `None`. */
export function writeAsPython(value: PythonValue): string {
  return typeof value === 'object' && value !== null ? dumpJson(value) : pythonStr(value);
}
