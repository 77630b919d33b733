import { readFile } from 'node:fs/promises';
import { datumFromModelInputWeights, decodeMessage, type Message, type Renderer } from '@tinkex/renderers';
import { type Datum, ModelInput, ValidationError, type ValidationIssue } from '@tinkex/types';

/** Two answers to the same conversation. */
export interface Comparison {
  readonly prompt: readonly Message[];
  readonly completionA: readonly Message[];
  readonly completionB: readonly Message[];
}

/** Which answer is better. */
export type PreferenceLabel = 'A' | 'B' | 'Tie';

/** A comparison and its result. */
export interface LabeledComparison {
  readonly comparison: Comparison;
  readonly label: PreferenceLabel;
}

const SWAPPED: Readonly<Record<PreferenceLabel, PreferenceLabel>> = { A: 'B', B: 'A', Tie: 'Tie' };

/** The same result with the answers exchanged. */
export function swapComparison({ comparison: { prompt, completionA, completionB }, label }: LabeledComparison): LabeledComparison {
  return { comparison: { prompt, completionA: completionB, completionB: completionA }, label: SWAPPED[label] };
}

/** A comparison as a conversation that a preference model continues with A, B or Tie. */
export function comparisonMessages({ prompt, completionA, completionB }: Comparison): Message[] {
  const announce = (text: string): Message => ({ role: 'system', content: `==== ${text} ====` });
  return [...prompt, announce('Completion A'), ...completionA, announce('Completion B'), ...completionB, announce('Preference')];
}

/**
 * A comparison as an example for a preference model. Only the first token of the label is trained on, and nothing follows it.
 *
 * @example
 * const data = { train: rowDataset({ rows: comparisons, batchSize: 32, toData: (row) => [preferenceDatum(row, renderer)] }) };
 */
export function preferenceDatum({ comparison, label }: LabeledComparison, renderer: Renderer): Datum {
  const messages: Message[] = [...comparisonMessages(comparison), { role: 'assistant', content: label }];
  const { modelInput, weights } = renderer.buildSupervisedExample(messages, 'last_assistant_message');
  const cut = cutAfterFirstTarget(Array.from(modelInput.toInts()), Array.from(weights));
  return datumFromModelInputWeights(ModelInput.fromInts(cut.tokens), cut.weights);
}

/** Tokens up to the first that is trained on. */
export function cutAfterFirstTarget(tokens: readonly number[], weights: readonly number[]): { tokens: number[]; weights: number[] } {
  const length = weights.findIndex((weight) => weight > 0) + 1;
  return length === 0
    ? { tokens: [...tokens], weights: [...weights] }
    : { tokens: tokens.slice(0, length), weights: weights.slice(0, length) };
}

/** The answers in order: the better one first. A tie counts as B, as in the reference. */
export function chosenAndRejected({ comparison, label }: LabeledComparison): readonly [readonly Message[], readonly Message[]] {
  const { completionA, completionB } = comparison;
  return label === 'A' ? [completionA, completionB] : [completionB, completionA];
}

/**
 * Reads comparisons, one JSON object per line: `{"comparison": {"prompt_conversation", "completion_A", "completion_B"}, "label": "A" | "B" | "Tie"}`. Lines without
 * either key are left out.
 *
 * @throws ValidationError that lists all lines that cannot be read.
 */
export async function comparisonsFromJsonl(file: string): Promise<LabeledComparison[]> {
  const issues: ValidationIssue[] = [];
  const comparisons: LabeledComparison[] = [];
  for (const [index, line] of (await readFile(file, 'utf8')).split('\n').entries()) {
    if (line.trim() === '') continue;
    try {
      comparisons.push(...decodeLine(JSON.parse(line) as unknown));
    } catch (error) {
      issues.push({ path: `${file}:${index + 1}`, message: (error as Error).message });
    }
  }
  if (issues.length > 0) throw new ValidationError({ direction: 'request', subject: 'comparisons', issues });
  return comparisons;
}

function decodeLine(json: unknown): LabeledComparison[] {
  if (typeof json !== 'object' || json === null) throw new Error('is not a JSON object.');
  const { comparison, label } = json as { comparison?: Record<string, unknown>; label?: unknown };
  if (comparison === undefined || label === undefined) return [];
  if (!(typeof label === 'string' && Object.hasOwn(SWAPPED, label)))
    throw new Error(`has the label ${JSON.stringify(label)} instead of A, B or Tie.`);
  const messagesOf = (key: string): Message[] => {
    const messages = comparison[key];
    if (!Array.isArray(messages)) throw new Error(`has no list ${key}.`);
    return messages.map((message) => decodeMessage(message as never));
  };
  return [
    {
      comparison: {
        prompt: messagesOf('prompt_conversation'),
        completionA: messagesOf('completion_A'),
        completionB: messagesOf('completion_B'),
      },
      label: label as PreferenceLabel,
    },
  ];
}
