import { type Completion, createCompleter, type Message, type Renderer } from '@tinkex/renderers';
import type { SamplingParams } from '@tinkex/types';
import { messageText } from '../data/message-text.js';
import { Semaphore } from '../loop/semaphore.js';
import type { SamplingEvaluator } from './evaluator.js';
import { meanPassAtK, passAtKValues } from './pass-at-k.js';

/** A question with what its answer is graded by. */
export interface GradedExample {
  /** The question, or a whole conversation to answer. */
  readonly question: string | readonly Message[];
  /** What a grader compares with. */
  readonly answer?: string | undefined;
}

/** Grades an answer: from 0 (wrong) to 1 (right), or true and false. */
export type Grader = (answer: {
  readonly text: string;
  readonly message: Message;
  readonly example: GradedExample;
}) => number | boolean | Promise<number | boolean>;

/** Options of {@link generationEvaluator}. */
export interface GenerationEvaluatorOptions {
  readonly renderer: Renderer;
  readonly grade: Grader;
  /** What the metrics begin with. Default `test`. */
  readonly name?: string | undefined;
  /** The most tokens of an answer. */
  readonly maxTokens: number;
  /** Default: temperature 0 for one sample per question, 1 for more. */
  readonly samplingParams?: SamplingParams | undefined;
  /** Answers per question. From 2 up, `<name>/pass_at_<k>` is measured too. Default 1. */
  readonly numSamples?: number | undefined;
  /** Questions that are answered at the same time. Default 64. */
  readonly maxConcurrency?: number | undefined;
}

const DEFAULT_MAX_CONCURRENCY = 64;

/** Answers questions and grades the answers: `<name>/score`, `<name>/format` (the share that ended by itself), and pass@k. Runs during training or without it. */
export function generationEvaluator(examples: readonly GradedExample[], options: GenerationEvaluatorOptions): SamplingEvaluator {
  const { renderer, grade, name = 'test', maxTokens, numSamples = 1, maxConcurrency = DEFAULT_MAX_CONCURRENCY } = options;
  const conversations = examples.map(({ question }): readonly Message[] =>
    typeof question === 'string' ? [{ role: 'user', content: question }] : question,
  );
  const prefillTokens = conversations.reduce((sum, messages) => sum + renderer.buildGenerationPrompt(messages).length, 0);
  return {
    kind: 'sampling',
    usage: { prefillTokens, sampledTokens: examples.length * numSamples * maxTokens },
    async evaluate(sampler) {
      const samplingParams = { temperature: numSamples === 1 ? 0 : 1, ...options.samplingParams, maxTokens };
      const complete = createCompleter({ sampler, renderer, samplingParams });
      const room = new Semaphore(maxConcurrency);
      const gradeAll = async ({ choices }: Completion, example: GradedExample) =>
        Promise.all(choices.map(async ({ message }) => Number(await grade({ text: messageText(message), message, example }))));
      const graded = await Promise.all(
        examples.map((example, index) =>
          room.run(async () => {
            const completion = await complete(conversations[index] as readonly Message[], { numSamples });
            const ended = completion.choices.filter(({ termination }) => termination !== 'malformed').length;
            return { scores: await gradeAll(completion, example), ended };
          }),
        ),
      );
      const scores = graded.map((each) => each.scores);
      const count = examples.length * numSamples;
      const passes = numSamples === 1 ? [] : passAtKValues(numSamples).map((k) => [`${name}/pass_at_${k}`, meanPassAtK(scores, k)]);
      return {
        [`${name}/score`]: scores.flat().reduce((sum, score) => sum + score, 0) / count,
        [`${name}/format`]: graded.reduce((sum, { ended }) => sum + ended, 0) / count,
        ...Object.fromEntries(passes),
      };
    },
  };
}
