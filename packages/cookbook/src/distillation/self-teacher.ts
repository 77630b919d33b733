import type { SamplingClient } from '@tinkex/clients';
import type { Metrics } from '@tinkex/telemetry/runs';
import { datum, ModelInput, type TokenLogprob } from '@tinkex/types';
import { inputOf, type RlDatum, withAdvantages } from '../rl/assembly.js';
import { likelyTokens, softmax, softRows, type Teacher } from './soft-targets.js';

/** What the teacher sees in front of an answer, and how much of both fits. */
export interface SelfTeacherOptions {
  /** Per example, the teacher's prompt. */
  readonly teacherPrompts: readonly ModelInput[];
  /** The most tokens of the prompt with the answer. Answers are cut to fit. */
  readonly maxContextLength: number;
}

/** Options of {@link teacherTargets}. */
export interface TeacherTargetsOptions extends SelfTeacherOptions {
  readonly topk: number;
  /** How many tokens at the beginning of each answer are not trained on. */
  readonly skipFirstNTokens: number;
  /** Tokens from here up are left out. Default: none. */
  readonly vocabSize?: number | undefined;
  /** Whether the entropy is averaged over all tokens of the answers, or over the positions that are trained on. */
  readonly entropyOver: 'tokens' | 'positions';
}

/** The answer of an example, as the teacher reads it. */
interface TeacherSequence {
  readonly prompt: ModelInput;
  /** Positions of the answer in the example's targets, as many as fit. */
  readonly positions: readonly number[];
  readonly sequence: ModelInput;
  readonly isTruncated: boolean;
}

const TRUNCATED = 'sdft/teacher_truncated_count';

/** Replaces the advantage of each token by how much likelier the teacher finds it than the student did. */
export async function teacherAdvantages(
  data: readonly RlDatum[],
  teacher: Pick<SamplingClient, 'computeLogprobs'>,
  options: SelfTeacherOptions,
): Promise<{ readonly data: RlDatum[]; readonly metrics: Metrics }> {
  const sequences = data.map((each, index) => teacherSequence(each, index, options));
  const scores = await Promise.all(sequences.map(({ sequence }) => teacher.computeLogprobs(sequence)));
  let [teacherSum, studentSum, tokens] = [0, 0, 0];
  const advantages = data.map((each, index) => {
    const { prompt, positions } = sequences[index] as TeacherSequence;
    // Where nothing fits, the teacher has no say.
    if (positions.length === 0) return inputOf(each, 'advantages');
    const sampled = inputOf(each, 'logprobs');
    const replaced = new Float32Array(sampled.length);
    for (const [offset, position] of positions.entries()) {
      const logprob = scores[index]?.[prompt.length + offset] as number;
      teacherSum += logprob;
      studentSum += sampled[position] as number;
      replaced[position] = logprob - (sampled[position] as number);
    }
    tokens += each.mask.reduce((sum, one) => sum + one, 0);
    return replaced;
  });
  const metrics = {
    ...(tokens > 0 && {
      'sdft/mean_advantage': (teacherSum - studentSum) / tokens,
      'sdft/mean_teacher_lp': teacherSum / tokens,
      'sdft/mean_student_lp': studentSum / tokens,
    }),
    [TRUNCATED]: sequences.filter(({ isTruncated }) => isTruncated).length,
    'sdft/num_datums': data.length,
  };
  return { data: withAdvantages(data, advantages), metrics };
}

/** Replaces the targets of each example by the tokens that the teacher finds likeliest, k per position. */
export async function teacherTargets(
  data: readonly RlDatum[],
  teacher: Teacher,
  options: TeacherTargetsOptions,
): Promise<{ readonly data: RlDatum[]; readonly metrics: Metrics }> {
  const { topk, skipFirstNTokens, vocabSize = Number.POSITIVE_INFINITY, entropyOver } = options;
  const sequences = data.map((each, index) => teacherSequence(each, index, options));
  const likely = await Promise.all(sequences.map(({ sequence }) => likelyTokens(teacher, sequence, topk)));
  let [entropy, trained, completionTokens] = [0, 0, 0];
  const soft = data.map((each, index) => {
    const { prompt, positions } = sequences[index] as TeacherSequence;
    const rows: (readonly TokenLogprob[])[] = Array.from(each.mask, () => []);
    completionTokens += positions.length;
    for (const [offset, position] of positions.entries()) {
      if (offset < skipFirstNTokens) continue;
      const row = (likely[index]?.[prompt.length + offset - 1] ?? []).filter(([token]) => token < vocabSize);
      rows[position] = row;
      if (row.length === 0) continue;
      trained++;
      entropy += entropyOf(softmax(row.map(([, logprob]) => logprob)));
    }
    const { modelInput } = each.datum;
    return { ...each, datum: datum({ modelInput, lossFnInputs: softRows(rows, topk, 'zero') }) };
  });
  const counted = entropyOver === 'tokens' ? completionTokens : trained;
  const metrics = {
    [TRUNCATED]: sequences.filter(({ isTruncated }) => isTruncated).length,
    'sdft/num_datums': data.length,
    'sdft/topk': topk,
    [entropyOver === 'tokens' ? 'sdft/total_completion_tokens' : 'sdft/total_completion_positions']: counted,
    'sdft/mean_teacher_entropy': counted === 0 ? 0 : entropy / counted,
  };
  return { data: soft, metrics };
}

function teacherSequence(
  { datum: { lossFnInputs }, mask }: RlDatum,
  index: number,
  { teacherPrompts, maxContextLength }: SelfTeacherOptions,
): TeacherSequence {
  const prompt = teacherPrompts[index] as ModelInput;
  const targets = lossFnInputs.targetTokens?.toNumbers() ?? [];
  const all = [...mask.keys()].filter((position) => (mask[position] as number) > 0);
  const positions = all.slice(0, Math.max(0, maxContextLength - prompt.length));
  const answer = positions.map((position) => targets[position] as number);
  const sequence = answer.length === 0 ? prompt : ModelInput.fromInts([...prompt.toInts(), ...answer]);
  return { prompt, positions, sequence, isTruncated: positions.length < all.length };
}

export function entropyOf(probabilities: readonly number[]): number {
  return -probabilities.reduce((sum, probability) => (probability > 0 ? sum + probability * Math.log(probability) : sum), 0);
}
