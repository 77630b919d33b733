import { readFileSync } from 'node:fs';
import {
  bpeTokenizer,
  getRenderer,
  type RendererTokenizer,
  type Sampler,
  type SamplerCallOptions,
  type SamplerInput,
  type TokenizerJson,
} from '@tinkex/renderers';
import { AbortedError, type SampledSequence, TopkLogprobs } from '@tinkex/types';
import type { GatewayModel } from '../../src/index.js';

const STAND_IN = new URL('../../../renderers/test/vectors/tokenizers/stand-in.tokenizer.json', import.meta.url);

/** A small vocabulary with the special tokens of every family. */
export const TOKENIZER: RendererTokenizer = bpeTokenizer(JSON.parse(readFileSync(STAND_IN, 'utf8')) as TokenizerJson);

/** What the model says to a conversation, as text with special tokens; `attempt` counts the answers to the same prompt. */
export type Script = (prompt: string, attempt: number) => string;

/** A prompt, and what is said to it. */
interface Prompt {
  readonly tokens: readonly number[];
  readonly script: readonly number[];
}

/** Whether tokens are a prompt and a part of what is said to it. */
function isContinued({ tokens, script }: Prompt, longer: readonly number[]): boolean {
  const rest = longer.slice(tokens.length);
  const begins = (all: readonly number[], part: readonly number[]): boolean => part.every((token, index) => token === all[index]);
  return rest.length > 0 && begins(longer, tokens) && begins(script, rest);
}

/** A model that says what a script says, however the answer is cut into pieces. */
export class ScriptedSampler implements Sampler {
  readonly inputs: SamplerInput[] = [];
  /** How many calls were aborted while they waited. */
  aborted = 0;
  /** Called before each answer. */
  onSample: (input: SamplerInput, signal: SamplerCallOptions['signal']) => void | Promise<void> = () => undefined;
  readonly #script: Script;
  readonly #prompts: Prompt[] = [];
  /** How often each prompt was answered. */
  readonly #attempts = new Map<string, number>();

  constructor(script: Script) {
    this.#script = script;
  }

  async sample(input: SamplerInput, { signal }: SamplerCallOptions = {}): Promise<{ sequences: SampledSequence[] }> {
    this.inputs.push(input);
    await this.onSample(input, signal);
    if (signal?.aborted) {
      this.aborted += 1;
      throw new AbortedError({ cause: signal.reason });
    }
    const tokens = Array.from(input.prompt.toInts());
    const known = this.#prompts.find((prompt) => isContinued(prompt, tokens));
    return {
      sequences: Array.from({ length: input.numSamples }, () => {
        const prompt = known ?? { tokens, script: this.#newScript(tokens) };
        if (known === undefined) this.#prompts.push(prompt);
        return this.#continue(input, prompt);
      }),
    };
  }

  /** What is said to a prompt; a prompt that comes again is answered again. */
  #newScript(tokens: readonly number[]): readonly number[] {
    const key = tokens.join();
    const attempt = this.#attempts.get(key) ?? 0;
    this.#attempts.set(key, attempt + 1);
    return Array.from(TOKENIZER.encode(this.#script(TOKENIZER.decode(tokens), attempt)));
  }

  #continue(
    { samplingParams: { maxTokens = 10_000, stop = [] }, prompt, topkSampleLogprobs: k }: SamplerInput,
    start: Prompt,
  ): SampledSequence {
    const tokens: number[] = [];
    let isStopped = false;
    for (const token of start.script.slice(prompt.length - start.tokens.length)) {
      if (tokens.length >= maxTokens || isStopped) break;
      tokens.push(token);
      const said = TOKENIZER.decode(tokens);
      isStopped = [stop].flat().some((one) => (typeof one === 'number' ? one === token : said.includes(one)));
    }
    const logprobs = Float32Array.from(tokens, (token) => -((token % 7) + 1) / 8);
    const topkLogprobs = TopkLogprobs.fromList(tokens.map((token, index) => [[token, logprobs[index] as number]]));
    return {
      tokens: Int32Array.from(tokens),
      logprobs,
      stopReason: isStopped ? 'stop' : 'length',
      sequenceId: `sequence-${this.inputs.length}`,
      ...(k === undefined ? {} : { topkLogprobs }),
    };
  }
}

/** A model of the qwen3 family that says what a script says. */
export function scriptedModel(script: Script, more: Partial<GatewayModel> = {}): GatewayModel & { readonly sampler: ScriptedSampler } {
  return { renderer: getRenderer('qwen3', TOKENIZER), ...more, sampler: new ScriptedSampler(script) };
}
