import type { SamplingClient, ServiceClient, TrainingClient } from '@tinkex/clients';
import { encodedIds, lossOf, ModelInput, nextTokenDatum, RateLimitError, type Tokenizer } from '@tinkex/types';

/** A text and the title it should get. */
export interface TitledText {
  readonly text: string;
  readonly title: string;
}

/** Options of {@link TitleWriter.train}. */
export interface TitleTraining {
  readonly baseModel: string;
  readonly steps: number;
  readonly learningRate: number;
  /** Whether to wait for a title when the service is busy or the network fails. Default false: the page does not wait. */
  readonly isPatient?: boolean;
}

/**
 * The application of this example: it learns to write titles, and writes them. It receives its `ServiceClient` from the caller, which is all
 * it takes to test it.
 */
export class TitleWriter {
  readonly #sampling: SamplingClient;
  readonly #tokenizer: Tokenizer;
  /** The mean loss of each step, per token. */
  readonly losses: readonly number[];

  private constructor(sampling: SamplingClient, tokenizer: Tokenizer, losses: readonly number[]) {
    this.#sampling = sampling;
    this.#tokenizer = tokenizer;
    this.losses = losses;
  }

  /** Learns from examples. */
  static async train(service: ServiceClient, examples: readonly TitledText[], options: TitleTraining): Promise<TitleWriter> {
    const training = await service.createLoraTrainingClient({ baseModel: options.baseModel, rank: 16 });
    const tokenizer = await training.getTokenizer();
    const losses = await learn(training, tokenizer, examples, options);
    return new TitleWriter(await training.saveWeightsAndGetSamplingClient({ retry: options.isPatient ?? false }), tokenizer, losses);
  }

  /** A title for a text, or undefined when the service is busy: the page must appear even without a title. */
  async title(text: string): Promise<string | undefined> {
    const prompt = ModelInput.fromText(promptFor(text), this.#tokenizer);
    try {
      const { sequences } = await this.#sampling.sample({ prompt, samplingParams: { maxTokens: 40, temperature: 0, stop: ['\n'] } });
      return this.#tokenizer.decode(sequences[0]?.tokens ?? []).trim();
    } catch (error) {
      if (RateLimitError.isInstance(error)) return undefined;
      throw error;
    }
  }
}

async function learn(
  training: TrainingClient,
  tokenizer: Tokenizer,
  examples: readonly TitledText[],
  options: TitleTraining,
): Promise<number[]> {
  const data = examples.map(({ text, title }) => {
    const promptLength = encodedIds(tokenizer.encode(promptFor(text))).length;
    return nextTokenDatum(ModelInput.fromText(`${promptFor(text)}${title}\n`, tokenizer).toInts(), { promptLength });
  });
  const weight = examples.reduce((sum, { title }) => sum + encodedIds(tokenizer.encode(`${title}\n`)).length, 0);
  const losses: number[] = [];
  for (let step = 0; step < options.steps; step++) {
    const forward = training.forwardBackward(data, 'cross_entropy');
    const update = training.optimStep({ learningRate: options.learningRate });
    const output = await forward;
    await update;
    losses.push((lossOf(output, data) ?? Number.NaN) / weight);
  }
  return losses;
}

function promptFor(text: string): string {
  return `${text}\n# `;
}
