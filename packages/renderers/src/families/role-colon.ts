import type { Grammar } from '../core/grammar.js';
import { capitalize } from '../core/python-text.js';
import { decodeTokens } from '../core/token-text.js';
import type { Message } from '../messages/message.js';
import { requireText } from './content-rules.js';
import type { FamilySetup } from './family.js';

const STOP = '\n\nUser:';

/**
 * Base models. No special token but the one that begins a text.
 *
 *     User: Question⏎
 *     ⏎
 *     Assistant: Answer⏎
 *     ⏎
 */
export function roleColon({ tokenizer }: FamilySetup): Grammar {
  const { bosTokenId, eosTokenId } = tokenizer;
  return {
    bos: bosTokenId === undefined ? undefined : { tokens: [bosTokenId] },
    hasExtensionProperty: true,
    renderMessage(message, context) {
      return {
        header: [`${capitalize(message.role)}:`],
        output: [` ${requireText(message, context)}\n\n`],
        stopOverlap: message.role === 'assistant' ? 'User:' : '<UNUSED>',
      };
    },
    response: {
      stopSequences: () => [STOP],
      parse(tokens) {
        const isEnded = tokens.length > 0 && tokens.at(-1) === eosTokenId;
        const pieces = decodeTokens(tokenizer, isEnded ? tokens.slice(0, -1) : tokens).split(STOP);
        const message: Message = { role: 'assistant', content: unpad(pieces[0] ?? '') };
        if (pieces.length === 1) return { message, termination: isEnded ? 'eos' : 'malformed' };
        return { message, termination: pieces.length === 2 && !isEnded ? 'stop_sequence' : 'malformed' };
      },
    },
  };
}

/** Text without the blank before it and the blank line after it. */
function unpad(text: string): string {
  return text.replace(/^ /, '').replace(/\n\n$/, '');
}
