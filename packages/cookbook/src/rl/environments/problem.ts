import type { Message, Renderer } from '@tinkex/renderers';
import { messageText } from '../../data/message-text.js';
import type { Action, Env, EnvGroup, EnvStep, Observation } from './env.js';

/** A task with one answer that can be checked. */
export interface ProblemOptions {
  /** The question, or a whole conversation to answer. */
  readonly question: string | readonly Message[];
  /** How right an answer is: true and false, or a number. */
  readonly grade: (text: string, message: Message) => number | boolean | Promise<number | boolean>;
  /** Whether an answer has the right form. Default: every answer that ended by itself. */
  readonly checkFormat?: ((text: string, message: Message) => boolean) | undefined;
  /** What a wrong form takes from the reward. Default 0.1. */
  readonly formatCoefficient?: number | undefined;
  /** Whether an answer of the right form ends with the renderer's stop sequence; otherwise the end of the text is enough. Default true. */
  readonly requireStopSequence?: boolean | undefined;
  /** Metrics are also reported per tag. */
  readonly tags?: readonly string[] | undefined;
}

const DEFAULT_FORMAT_COEFFICIENT = 0.1;

/**
 * A group of episodes with one question and one answer each. The reward is the grade, less `formatCoefficient` when the form is wrong. Metrics: `format`
 * and `correct`.
 */
export function problem(options: ProblemOptions): EnvGroup {
  return {
    tags: options.tags,
    makeEnvs: ({ renderer, groupSize }) => Array.from({ length: groupSize }, () => problemEnv(options, renderer)),
  };
}

/** One episode of a {@link problem}. */
export function problemEnv(options: ProblemOptions, renderer: Renderer): Env {
  const { question, grade, checkFormat, formatCoefficient = DEFAULT_FORMAT_COEFFICIENT, requireStopSequence = true } = options;
  const messages: readonly Message[] = typeof question === 'string' ? [{ role: 'user', content: question }] : question;
  return {
    initialObservation(): Observation {
      return { prompt: renderer.buildGenerationPrompt(messages), stop: renderer.getStopSequences() };
    },
    async step({ tokens }: Action): Promise<EnvStep> {
      const { message, termination } = renderer.parseResponse(tokens);
      const text = messageText(message);
      const isEnded = requireStopSequence ? termination === 'stop_sequence' : termination !== 'malformed';
      const format = isEnded && (checkFormat?.(text, message) ?? true) ? 1 : 0;
      const correct = Number(await grade(text, message));
      const reward = formatCoefficient * (format - 1) + correct;
      return { reward, episodeDone: true, metrics: { format, correct }, logs: { response: text } };
    },
  };
}
