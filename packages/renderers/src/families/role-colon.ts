import type { Grammar } from '../core/grammar.js';
import { capitalize } from '../core/python-text.js';
import type { ParsedResponse } from '../core/renderer.js';
import { decodeTokens } from '../core/token-text.js';
import type { Message } from '../messages/message.js';
import { PlainReader } from '../parsing/plain-reader.js';
import type { ResponseFormat } from '../parsing/response-format.js';
import { requireText } from './content-rules.js';
import type { FamilySetup } from './family.js';

const STOP = '\n\nUser:';
/** What a template writes around an answer. */
const BEFORE = ' ';
const AFTER = '\n\n';

/**
 * Base models. No special token but the one that begins a text.
 *
 *     User: Question⏎
 *     ⏎
 *     Assistant: Answer⏎
 *     ⏎
 */
export function roleColon(setup: FamilySetup): Grammar {
  const { bosTokenId } = setup.tokenizer;
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
    response: responseFormat(setup),
  };
}

function responseFormat({ tokenizer }: FamilySetup): ResponseFormat {
  const { eosTokenId } = tokenizer;

  function parse(tokens: readonly number[]): ParsedResponse {
    const isEnded = tokens.length > 0 && tokens.at(-1) === eosTokenId;
    const pieces = decodeTokens(tokenizer, isEnded ? tokens.slice(0, -1) : tokens).split(STOP);
    const message: Message = { role: 'assistant', content: unframed(pieces[0] ?? '') };
    if (pieces.length === 1) return { message, termination: isEnded ? 'eos' : 'malformed' };
    return { message, termination: pieces.length === 2 && !isEnded ? 'stop_sequence' : 'malformed' };
  }

  return {
    stopSequences: () => [STOP],
    parse,
    stream: {
      stopTokens: [],
      finalToken: eosTokenId,
      opensThinking: false,
      openingTokens: [],
      createReader: () => new PlainReader({ stop: STOP, before: BEFORE, after: AFTER }),
      parsePartial: parse,
    },
  };
}

function unframed(text: string): string {
  const begun = text.startsWith(BEFORE) ? text.slice(BEFORE.length) : text;
  return begun.endsWith(AFTER) ? begun.slice(0, -AFTER.length) : begun;
}
