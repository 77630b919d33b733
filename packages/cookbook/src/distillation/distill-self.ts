import type { SamplingClient } from '@tinkex/clients';
import type { Datum, ModelInput } from '@tinkex/types';
import { refuse } from '../loop/options.js';
import type { TrainingRun } from '../loop/run-training.js';
import { type KlReference, type RlConfig, resolveRlConfig } from '../rl/config.js';
import type { EnvGroup } from '../rl/environments/env.js';
import type { AdvantageRule } from '../rl/loops/prepare-batch.js';
import type { TrajectoryGroup } from '../rl/rollouts/trajectory.js';
import { runRl } from '../rl/train-rl.js';
import { promptGroup } from './prompts.js';
import { reverseKlLoss } from './reverse-kl.js';
import { teacherAdvantages, teacherTargets } from './self-teacher.js';

/** A question with an answer that shows how. */
export interface Demonstration {
  readonly question: string;
  readonly answer: string;
}

/**
 * How the student follows the teacher. `forward-kl`: cross-entropy on the teacher's likeliest tokens. `reverse-kl`: by a custom loss over the same tokens.
 * `advantages`: importance sampling with what the teacher finds likelier.
 */
export type SelfDistillationMode = 'forward-kl' | 'reverse-kl' | 'advantages';

/** Options of `distillSelf`. */
export interface SelfDistillationConfig
  extends Omit<RlConfig, 'dataset' | 'klPenaltyCoef' | 'klDiscountFactor' | 'klReference' | 'lossFn' | 'maxTokens'> {
  readonly data: readonly Demonstration[];
  /** Default `forward-kl`. */
  readonly mode?: SelfDistillationMode | undefined;
  /** The weights that teach. Default: the base model. */
  readonly teacher?: KlReference | undefined;
  /** The likeliest tokens per position. Default 20. Without meaning for `advantages`. */
  readonly topk?: number | undefined;
  /** Tokens at the beginning of each answer that are not trained on. Default 3. Without meaning for `advantages`. */
  readonly skipFirstNTokens?: number | undefined;
  /** Tokens from here up are never targets. Default: none. */
  readonly vocabSize?: number | undefined;
  /** The most tokens of the teacher's prompt with the answer. Default 32768. */
  readonly maxContextLength?: number | undefined;
  /** The most tokens of one answer. Default 2048. */
  readonly maxTokens?: number | undefined;
  /** Default 2e-5. */
  readonly learningRate?: number | 'auto' | undefined;
  /** Default 128. */
  readonly loraRank?: number | undefined;
}

/** What the teacher is asked: the question with the answer that shows how. */
export function demonstrationPrompt({ question, answer }: Demonstration): string {
  const example = `This is an example for a response to the question:\n${answer}`;
  // prose-ok: the reference's words, which change what the teacher answers
  const request = 'Now answer with a response of your own, including the thinking process.';
  return `${question}\n\n${example}\n\n${request}`;
}

const DEFAULT_TOP_K = 20;
const DEFAULT_SKIPPED_TOKENS = 3;
const DEFAULT_MAX_CONTEXT_LENGTH = 32_768;

/**
 * Distills a model into itself (SDFT): the teacher is the same model, shown a good answer; the student sees only the question. It learns the skill in its own
 * words, and forgets less than by training on the answers.
 */
export async function distillSelf(options: SelfDistillationConfig): Promise<TrainingRun> {
  const {
    data,
    mode = 'forward-kl',
    teacher: reference,
    topk = DEFAULT_TOP_K,
    skipFirstNTokens = DEFAULT_SKIPPED_TOKENS,
    vocabSize,
    ...rest
  } = options;
  const { maxContextLength = DEFAULT_MAX_CONTEXT_LENGTH, learningRate = 2e-5, loraRank = 128, maxTokens = 2_048, ...shared } = rest;
  if (mode !== 'advantages' && !(Number.isInteger(topk) && topk >= 1))
    refuse('topk', `topk must be a whole number from 1 up; got ${topk}.`);
  const tasks = data.map((demonstration) => new DemonstrationTask(demonstration));
  const lossFn = mode === 'advantages' ? 'importance_sampling' : 'cross_entropy';
  const config = resolveRlConfig({ ...shared, learningRate, loraRank, maxTokens, lossFn, dataset: tasks });
  const teacher = await config.service.createSamplingClient({ ...(reference ?? { baseModel: config.model }), retry: true });
  const rule = selfTeacherRule(teacher, { mode, topk, skipFirstNTokens, vocabSize, maxContextLength });
  const customLoss =
    mode === 'reverse-kl'
      ? (given: readonly Datum[], logprobs: readonly { readonly data: Float32Array }[]) =>
          reverseKlLoss(
            given,
            logprobs.map((each) => each.data),
          )
      : undefined;
  return runRl(config, { recipeName: 'sdft', record: { mode, topk, skip_first_n_tokens: skipFirstNTokens }, rules: [rule], customLoss });
}

interface RuleSettings {
  readonly mode: SelfDistillationMode;
  readonly topk: number;
  readonly skipFirstNTokens: number;
  readonly vocabSize: number | undefined;
  readonly maxContextLength: number;
}

function selfTeacherRule(
  teacher: SamplingClient,
  { mode, topk, skipFirstNTokens, vocabSize, maxContextLength }: RuleSettings,
): AdvantageRule {
  return (data, groups) => {
    const promptOf = ({ task }: TrajectoryGroup) => (task as DemonstrationTask).teacherPrompt as ModelInput;
    const teacherPrompts = data.map(({ origin }) => promptOf(groups[origin.groupIndex] as TrajectoryGroup));
    if (mode === 'advantages') return teacherAdvantages(data, teacher, { teacherPrompts, maxContextLength });
    const entropyOver = mode === 'forward-kl' ? 'tokens' : 'positions';
    return teacherTargets(data, teacher, { teacherPrompts, maxContextLength, topk, skipFirstNTokens, vocabSize, entropyOver });
  };
}

/** The question as a task for the student. Remembers what the teacher sees. */
class DemonstrationTask implements EnvGroup {
  readonly #demonstration: Demonstration;
  readonly #task: EnvGroup;
  /** Rendered when the task is played. */
  teacherPrompt: ModelInput | undefined;

  constructor(demonstration: Demonstration) {
    this.#demonstration = demonstration;
    this.#task = promptGroup(demonstration.question);
  }

  makeEnvs(context: Parameters<EnvGroup['makeEnvs']>[0]): ReturnType<EnvGroup['makeEnvs']> {
    this.teacherPrompt = context.renderer.buildGenerationPrompt([{ role: 'user', content: demonstrationPrompt(this.#demonstration) }]);
    return this.#task.makeEnvs(context);
  }
}
