import { type Datum, ValidationError } from '@tinkex/types';
import type { Renderer, SupervisedExample, TrainOnWhat } from '../core/renderer.js';
import type { Message } from '../messages/message.js';
import { datumFromModelInputWeights, type Reduction } from './datum-from-weights.js';

/** Options of {@link conversationToDatum} and {@link conversationToData}. */
export interface ConversationToDatumOptions {
  /** Default `all_assistant_messages`. */
  readonly trainOnWhat?: TrainOnWhat | undefined;
  /** How many tokens are kept at most. The end is cut off. Default: all. */
  readonly maxLength?: number | undefined;
  /** Default `mean`: the weights of an example sum to 1. */
  readonly reduction?: Reduction | undefined;
}

/** What happened to one example of {@link conversationToData}. */
export interface ExampleReport {
  /** Positions before anything was cut off. */
  readonly length: number;
  /** How many positions `maxLength` cut off. */
  readonly truncatedLength: number;
  /** How many of the remaining targets are trained on. With none, the example teaches nothing. */
  readonly trainedTokens: number;
  /** Why there is no datum for it. */
  readonly problem?: string | undefined;
}

/** What {@link conversationToData} gives. */
export interface ConversationData {
  /** Only what can be trained on: examples without a trained token are left out. */
  readonly data: readonly Datum[];
  /** One entry per example, also for those that are left out. */
  readonly report: readonly ExampleReport[];
}

/**
 * A conversation as one example. Throws a `ValidationError` when the renderer cannot write it, or when fewer than two tokens are left of it.
 *
 * @example
 * const datum = conversationToDatum(messages, renderer, { trainOnWhat: 'all_assistant_messages', maxLength: 4096 });
 */
export function conversationToDatum(messages: readonly Message[], renderer: Renderer, options: ConversationToDatumOptions = {}): Datum {
  const { trainOnWhat = 'all_assistant_messages', maxLength, reduction = 'mean' } = options;
  const { modelInput, weights } = renderer.buildSupervisedExample(messages, trainOnWhat);
  return datumFromModelInputWeights(modelInput, weights, { maxLength, reduction });
}

/** A conversation as several examples where later turns rewrite earlier ones, with a report on what was cut off or has nothing to learn. */
export function conversationToData(
  messages: readonly Message[],
  renderer: Renderer,
  options: ConversationToDatumOptions = {},
): ConversationData {
  const { trainOnWhat = 'all_assistant_messages' } = options;
  const results = renderer.buildSupervisedExamples(messages, trainOnWhat).map((example) => toDatum(example, options));
  return { data: results.flatMap(({ datum }) => (datum === undefined ? [] : [datum])), report: results.map(({ report }) => report) };
}

function toDatum({ modelInput, weights }: SupervisedExample, { maxLength, reduction = 'mean' }: ConversationToDatumOptions) {
  const { length } = modelInput;
  const kept = Math.min(length, maxLength ?? length);
  const report = { length, truncatedLength: length - kept, trainedTokens: weights.subarray(1, kept).filter((weight) => weight > 0).length };
  if (report.trainedTokens === 0) return { report: { ...report, problem: 'No token of it is trained on.' } };
  try {
    return { report, datum: datumFromModelInputWeights(modelInput, weights, { maxLength, reduction }) };
  } catch (error) {
    if (!ValidationError.isInstance(error)) throw error;
    return { report: { ...report, problem: error.message } };
  }
}
