import type { Grammar } from '../core/grammar.js';
import { stopTokenFormat } from '../parsing/stop-token-format.js';
import { requireText } from './content-rules.js';
import type { FamilySetup } from './family.js';

/** Llama 3: a header with the role, the text, `<|eot_id|>`. Any role; no tools, no thinking. */
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
      streams: false,
      parseText: (text) => ({ content: text }),
    }),
  };
}
