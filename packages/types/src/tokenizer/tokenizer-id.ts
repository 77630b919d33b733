/** Which tokenizer belongs to a model. */
export interface TokenizerSource {
  /** An id of the Hugging Face hub. */
  readonly tokenizerId: string;
  /** The revision to load. Unset: the newest. */
  readonly revision?: string | undefined;
  /** Whether the tokenizer brings its own code. */
  readonly trustRemoteCode?: boolean | undefined;
}

const LLAMA_3 = 'meta-llama/Llama-3';
const LLAMA_3_TOKENIZER = 'thinkingmachineslabinc/meta-llama-3-instruct-tokenizer';

const KIMI_K2_5: TokenizerSource = {
  tokenizerId: 'moonshotai/Kimi-K2.5',
  revision: '4d01dfe0332d63057c186e0b262165819efb6611',
  trustRemoteCode: true,
};

const PINNED: ReadonlyMap<string, TokenizerSource> = new Map([
  [
    'moonshotai/Kimi-K2-Thinking',
    { tokenizerId: 'moonshotai/Kimi-K2-Thinking', revision: '612681931a8c906ddb349f8ad0f582cb552189cd', trustRemoteCode: true },
  ],
  ['moonshotai/Kimi-K2.5', KIMI_K2_5],
  ['moonshotai/Kimi-K2.5-Text-Only', KIMI_K2_5],
  [
    'moonshotai/Kimi-K2.6',
    { tokenizerId: 'moonshotai/Kimi-K2.6', revision: 'b5aabbfb20227ed42becbf5541dbffd213942c58', trustRemoteCode: true },
  ],
  [
    'moonshotai/Kimi-K3',
    { tokenizerId: 'moonshotai/Kimi-K3', revision: 'f831ab66814297da540d832a5235f8e904f29d06', trustRemoteCode: true },
  ],
]);

/**
 * The tokenizer of a model, as the reference client chooses it: what the server names, else by the model's name.
 *
 * @param modelName Anything from its first colon on is ignored.
 * @param tokenizerId What the server says in `GetInfoResponse.modelData.tokenizerId`, if it does.
 */
export function tokenizerIdFor(modelName: string, tokenizerId?: string): TokenizerSource {
  const id = tokenizerId === undefined || tokenizerId === '' ? byModelName(beforeColon(modelName)) : beforeColon(tokenizerId);
  return PINNED.get(id) ?? { tokenizerId: id };
}

function byModelName(name: string): string {
  if (name.startsWith(LLAMA_3)) return LLAMA_3_TOKENIZER;
  const parts = name.split('/');
  return parts.length === 3 ? parts.slice(0, 2).join('/') : name;
}

function beforeColon(text: string): string {
  return text.split(':', 1)[0] as string;
}
