import { readFileSync } from 'node:fs';
import type { GatewayModel } from '@tinkex/gateway';
import {
  bpeTokenizer,
  getRenderer,
  type RendererTokenizer,
  type Sampler,
  type SamplerCallOptions,
  type SamplerInput,
  type TokenizerJson,
} from '@tinkex/renderers';
import { AbortedError, type SampledSequence } from '@tinkex/types';

const STAND_IN = new URL('../../../renderers/test/vectors/tokenizers/stand-in.tokenizer.json', import.meta.url);

/** A small vocabulary with the special tokens of every family. */
const TOKENIZER: RendererTokenizer = bpeTokenizer(JSON.parse(readFileSync(STAND_IN, 'utf8')) as TokenizerJson);

/** Says the given answers one after the other, however each is cut into pieces. */
export class ScriptedSampler implements Sampler {
  readonly inputs: SamplerInput[] = [];
  /** The prompts, as text. */
  readonly prompts: string[] = [];
  /** How many calls ended because their signal was aborted. */
  aborted = 0;
  /** Called before each answer. */
  onSample: (input: SamplerInput) => void | Promise<void> = () => undefined;
  readonly #answers: string[];
  #current: { readonly prompt: readonly number[]; readonly answer: readonly number[] } | undefined;

  constructor(answers: readonly string[]) {
    this.#answers = [...answers];
  }

  async sample(input: SamplerInput, { signal }: SamplerCallOptions = {}): Promise<{ sequences: SampledSequence[] }> {
    this.inputs.push(input);
    await this.onSample(input);
    if (signal?.aborted) {
      this.aborted += 1;
      throw new AbortedError({ cause: signal.reason });
    }
    const tokens = Array.from(input.prompt.toInts());
    const isContinued =
      this.#current?.prompt.every((token, index) => token === tokens[index]) === true && tokens.length > this.#current.prompt.length;
    if (this.#current === undefined || !isContinued) {
      this.prompts.push(TOKENIZER.decode(tokens));
      this.#current = { prompt: tokens, answer: Array.from(TOKENIZER.encode(this.#answers.shift() ?? '')) };
    }
    const rest = this.#current.answer.slice(tokens.length - this.#current.prompt.length);
    const sequence = sampled(rest, input.samplingParams);
    if (sequence.stopReason === 'stop' || sequence.tokens.length === rest.length) this.#current = undefined;
    return { sequences: [{ ...sequence, sequenceId: `sequence-${this.inputs.length}` }] };
  }
}

function sampled(rest: readonly number[], { maxTokens = 10_000, stop = [] }: SamplerInput['samplingParams']): SampledSequence {
  const tokens: number[] = [];
  let isStopped = false;
  for (const token of rest.slice(0, maxTokens)) {
    if (isStopped) break;
    tokens.push(token);
    const said = TOKENIZER.decode(tokens);
    isStopped = [stop].flat().some((one) => (typeof one === 'number' ? one === token : said.includes(one)));
  }
  const logprobs = Float32Array.from(tokens, () => -0.5);
  return { tokens: Int32Array.from(tokens), logprobs, stopReason: isStopped ? 'stop' : 'length' };
}

/** A model of the qwen3 family that gives these answers. */
export function scriptedModel(
  answers: readonly string[],
  more: Partial<GatewayModel> = {},
): GatewayModel & { readonly sampler: ScriptedSampler } {
  return { renderer: getRenderer('qwen3', TOKENIZER), ...more, sampler: new ScriptedSampler(answers) };
}
