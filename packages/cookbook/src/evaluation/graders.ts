import { createCompleter, type Message, type Renderer, type Sampler } from '@tinkex/renderers';
import { messageText } from '../data/message-text.js';
import type { GradedExample, Grader } from './generation.js';
import { isMathAnswerCorrect } from './math-answers.js';

/** Right when the answer is the expected text, blanks around it aside. */
export const exactMatch: Grader = ({ text, example }) => example.answer !== undefined && text.trim() === example.answer.trim();

/** Right when the `\boxed{…}` of the answer is the expected one, in another notation if need be. */
export const mathAnswer: Grader = ({ text, example }) => example.answer !== undefined && isMathAnswerCorrect(text, example.answer);

/** Options of {@link llmJudge}. */
export interface LlmJudgeOptions {
  /** The judging model: anything with `sample`. */
  readonly sampler: Sampler;
  readonly renderer: Renderer;
  /** What a good answer is. */
  readonly rubric: string;
  /** The most tokens of a verdict. Default 256. */
  readonly maxTokens?: number | undefined;
  /** Reads the score out of a verdict, from 0 to 1; undefined if there is none. Default: the last number of the form `Score: 0.7`. */
  readonly readScore?: ((verdict: string) => number | undefined) | undefined;
}

/** An answer to judge. */
export interface JudgedAnswer {
  readonly text: string;
  readonly example: GradedExample;
  readonly rubric: string;
}

const DEFAULT_VERDICT_TOKENS = 256;

/** A grader that asks a model. A verdict without a score counts 0. */
export function llmJudge({
  sampler,
  renderer,
  rubric,
  maxTokens = DEFAULT_VERDICT_TOKENS,
  readScore = lastScore,
}: LlmJudgeOptions): Grader {
  const complete = createCompleter({ sampler, renderer, samplingParams: { maxTokens, temperature: 0 } });
  return async ({ text, example }) => {
    const { message } = await complete([judgeRequest({ text, example, rubric })]);
    return Math.min(1, Math.max(0, readScore(messageText(message)) ?? 0));
  };
}

/** What {@link llmJudge} asks the judging model. To train a judge, follow it with the verdict that it should give. */
export function judgeRequest({ text, example: { question, answer }, rubric }: JudgedAnswer): Message {
  const asked = typeof question === 'string' ? question : question.map((message) => `${message.role}: ${messageText(message)}`).join('\n');
  const parts = [
    `Question:\n${asked}`,
    ...(answer === undefined ? [] : [`Reference answer:\n${answer}`]),
    `Answer:\n${text}`,
    `Rubric:\n${rubric}`,
  ];
  const instruction = 'Judge the answer by the rubric. End with a line "Score: S", where S is a number from 0 to 1.';
  return { role: 'user', content: [...parts, instruction].join('\n\n') };
}

function lastScore(verdict: string): number | undefined {
  const scores = [...verdict.matchAll(/score:\s*(\d*\.?\d+)/gi)];
  const last = scores.at(-1)?.[1];
  return last === undefined ? undefined : Number(last);
}
