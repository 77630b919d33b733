import type { SamplingClient } from '@tinkex/clients';
import type { Datum } from '@tinkex/types';
import type { SamplingEvaluator } from './evaluator.js';
import { fullSequence } from './full-sequence.js';
import { bitsPerByte, type DecodingTokenizer, meanNll, scoreTargets } from './loss-metrics.js';

/** Options of {@link nllEvaluator}. */
export interface NllEvaluatorOptions {
  /** What the metrics begin with. Default `test`. */
  readonly name?: string | undefined;
  /** Also gives bits per byte. */
  readonly tokenizer?: DecodingTokenizer | undefined;
}

/** Measures how well a model predicts examples: `<name>/nll`, the weighted mean of the negative logprobs, and with a tokenizer `<name>/bpb`. */
export function nllEvaluator(data: readonly Datum[], { name = 'test', tokenizer }: NllEvaluatorOptions = {}): SamplingEvaluator {
  const sequences = data.map(fullSequence);
  const prefillTokens = sequences.reduce((sum, { length }) => sum + length, 0);
  return {
    kind: 'sampling',
    usage: { prefillTokens, sampledTokens: sequences.length },
    async evaluate(client: Pick<SamplingClient, 'computeLogprobs'>) {
      const logprobs = await Promise.all(sequences.map(async (sequence) => (await client.computeLogprobs(sequence)).subarray(1)));
      const scored = scoreTargets(data, logprobs);
      const nll = { [`${name}/nll`]: meanNll(scored) };
      return tokenizer === undefined ? nll : { ...nll, [`${name}/bpb`]: bitsPerByte(scored, tokenizer) };
    },
  };
}
