import { dumpJson } from '../core/python-json.js';
import { strip } from '../core/python-text.js';
import { hasThinkingPart, textOf } from '../messages/content.js';
import type { Message } from '../messages/message.js';
import { xmlChatml } from './chatml-xml.js';
import type { Family } from './family.js';
import { EMPTY_THINKING, qwen35Rules } from './qwen3-5.js';
import { declareXmlTools } from './tool-declarations.js';

/** How hard the model thinks, said in the system message. Medium effort needs no words. */
const INSTRUCTIONS = {
  xhigh:
    'Reasoning effort is set to xhigh. Please think carefully through the task, validate key assumptions, consider plausible alternatives, and prioritize correctness, consistency, and clarity in the final answer.',
  medium: '',
  low: 'Reasoning effort is set to low. Keep your thinking brief and focused, moving directly to the conclusion without unnecessary elaboration.',
  none: '',
} as const;

/** Qwen3.8: Qwen3.5 with an effort, and with the thinking of earlier turns kept. */
export function qwen38(effort: keyof typeof INSTRUCTIONS): Family {
  return (setup) => {
    const strips = setup.options.stripThinkingFromHistory ?? false;
    return {
      ...xmlChatml(setup, {
        ...qwen35Rules(setup, effort === 'none'),
        keepsThinking: (_message, { index, lastUserIndex }) => !strips || index > lastUserIndex,
        writeHeaderThinking: ({ content }, { index, lastUserIndex }) =>
          !hasThinkingPart(content) && (!strips || index > lastUserIndex) ? EMPTY_THINKING : '',
        writeScalar: (value) => (typeof value === 'string' ? value : dumpJson(value)),
      }),
      prepare: (messages) => instruct(messages, INSTRUCTIONS[effort]),
      declareTools: declareXmlTools,
    };
  };
}

/** Puts the instruction in front of the system message, or makes one of it. */
function instruct(messages: readonly Message[], instruction: string): readonly Message[] {
  const [first, ...rest] = messages;
  if (first?.role !== 'system') {
    if (instruction === '') return messages;
    const isCustomized = messages.some(({ trainable }) => trainable !== undefined);
    return [{ role: 'system', content: instruction, ...(isCustomized ? { trainable: false } : {}) }, ...messages];
  }
  if (typeof first.content !== 'string' && first.content.some(({ type }) => type !== 'text')) {
    return instruction === ''
      ? messages
      : [{ ...first, content: [{ type: 'text', text: `${instruction}\n\n` }, ...first.content] }, ...rest];
  }
  const text = strip(textOf(first.content));
  if (text === '' && instruction === '') return rest;
  const isThere = instruction === '' || text.startsWith(instruction);
  const content = isThere ? text : [instruction, text].filter((part) => part !== '').join('\n\n');
  return [{ ...first, content }, ...rest];
}
