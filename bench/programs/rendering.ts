import { readFileSync } from 'node:fs';
import { Tokenizer } from '@huggingface/tokenizers';
import { bpeTokenizer, getRenderer, type Message, type RendererTokenizer, type TokenizerJson } from '@tinkex/renderers';
import { program } from '../measure/program.js';
import { stopwatch } from '../measure/stopwatch.js';

interface Task {
  readonly contender: 'tinkex' | 'tinkex-all' | 'huggingface';
  readonly conversationsFile: string;
  readonly tokenizerFile: string;
}

interface Conversations {
  readonly warmUp: readonly (readonly Message[])[];
  readonly measured: readonly (readonly Message[])[];
}

/** The same renderer with all tokens from `@huggingface/tokenizers`. */
function slowTokenizer(json: TokenizerJson): RendererTokenizer {
  const encoder = (tokens: TokenizerJson['added_tokens']) => new Tokenizer({ ...json, added_tokens: tokens }, {});
  const [all, ordinary] = [encoder(json.added_tokens), encoder((json.added_tokens ?? []).filter(({ special }) => special !== true))];
  return {
    encode: (text, { addedTokens = 'all' } = {}) =>
      (addedTokens === 'all' ? all : ordinary).encode(text, { add_special_tokens: false }).ids,
    decode: (ids) => all.decode(Array.from(ids), { skip_special_tokens: false }),
    tokenId: (token) => all.token_to_id(token),
  };
}

await program(({ contender, conversationsFile, tokenizerFile }: Task) => {
  const json = JSON.parse(readFileSync(tokenizerFile, 'utf8')) as TokenizerJson;
  const renderer = getRenderer('qwen3', contender === 'huggingface' ? slowTokenizer(json) : bpeTokenizer(json));
  const { warmUp, measured } = JSON.parse(readFileSync(conversationsFile, 'utf8')) as Conversations;
  const render = (messages: readonly Message[]): number => {
    if (contender !== 'tinkex-all') return renderer.buildSupervisedExample(messages).weights.length;
    return renderer.buildSupervisedExamples(messages, 'all_assistant_messages').reduce((sum, { weights }) => sum + weights.length, 0);
  };
  for (const messages of warmUp) render(messages);
  const stop = stopwatch();
  let tokens = 0;
  for (const messages of measured) tokens += render(messages);
  const { cpuMs } = stop();
  return { cpuMicrosPerConversation: (cpuMs * 1_000) / measured.length, tokens };
});
