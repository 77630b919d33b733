import type { Grammar } from '../core/grammar.js';
import { stopTokenFormat } from '../parsing/stop-token-format.js';
import { requireText } from './content-rules.js';
import type { FamilySetup } from './family.js';

/**
 * Llama 3. Any role; no tools, no thinking.
 *
 *     <|begin_of_text|><|start_header_id|>user<|end_header_id|>⏎
 *     ⏎
 *     Question<|eot_id|><|start_header_id|>assistant<|end_header_id|>⏎
 *     ⏎
 *     Answer<|eot_id|>
 */
export function llama3({ tokenizer }: FamilySetup): Grammar {
  return {
    bos: '<|begin_of_text|>',
    hasExtensionProperty: true,
    renderMessage(message, context) {
      return {
        header: [`<|start_header_id|>${message.role}<|end_header_id|>\n\n`],
        output: [`${requireText(message, context)}<|eot_id|>`],
      };
    },
    response: stopTokenFormat({
      tokenizer,
      stops: { '<|eot_id|>': 'stop_sequence' },
      thinks: false,
      parseText: (text) => ({ content: text }),
    }),
  };
}
