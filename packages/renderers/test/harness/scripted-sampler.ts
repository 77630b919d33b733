import { type SampledSequence, TopkLogprobs } from '@tinkex/types';
import type { RendererTokenizer, Sampler, SamplerCallOptions, SamplerInput } from '../../src/index.js';

/** A model that always writes the same: the token after n tokens of an answer depends on n only, as with a seed and draws keyed by position. */
export class ScriptedSampler implements Sampler {
  readonly inputs: SamplerInput[] = [];
  readonly signals: (SamplerCallOptions['signal'] | undefined)[] = [];
  readonly #tokenizer: RendererTokenizer;
  readonly #promptTokens: number;
  readonly #scripts: readonly ArrayLike<number>[];
  /** Called before each answer. */
  onSample: (input: SamplerInput) => void | Promise<void> = () => undefined;

  /**
   * @param promptTokens - The length of the prompt that is answered: what is longer continues an answer.
   * @param scripts - What the samples of a request say; a request with a seed says what stands at `seed % scripts.length`.
   */
  constructor(tokenizer: RendererTokenizer, promptTokens: number, scripts: readonly ArrayLike<number>[]) {
    this.#tokenizer = tokenizer;
    this.#promptTokens = promptTokens;
    this.#scripts = scripts;
  }

  async sample(input: SamplerInput, options: SamplerCallOptions = {}): Promise<{ sequences: SampledSequence[] }> {
    this.inputs.push(input);
    this.signals.push(options.signal);
    await this.onSample(input);
    const first = Number(input.samplingParams.seed ?? 0);
    return { sequences: Array.from({ length: input.numSamples }, (_, index) => this.#continue(input, first + index)) };
  }

  #continue(
    { prompt, samplingParams: { maxTokens = Number.POSITIVE_INFINITY, stop = [] }, topkSampleLogprobs: k }: SamplerInput,
    sample: number,
  ): SampledSequence {
    const script = Array.from(this.#scripts[sample % this.#scripts.length] ?? []);
    const start = prompt.length - this.#promptTokens;
    const tokens: number[] = [];
    let isStopped = false;
    for (const token of script.slice(start)) {
      if (tokens.length >= maxTokens || isStopped) break;
      tokens.push(token);
      const text = this.#tokenizer.decode(tokens);
      isStopped = [stop].flat().some((one) => (typeof one === 'number' ? one === token : text.includes(one)));
    }
    const logprobs = Float32Array.from(tokens, (_, index) => -(start + index + 1));
    const sequence: SampledSequence = { tokens: Int32Array.from(tokens), logprobs, stopReason: isStopped ? 'stop' : 'length' };
    if (k === undefined) return sequence;
    const topkLogprobs = TopkLogprobs.fromList(tokens.map((token, index) => [[token, logprobs[index] as number]]));
    return { ...sequence, topkLogprobs, sequenceId: `sample-${sample}-from-${start}` };
  }
}
