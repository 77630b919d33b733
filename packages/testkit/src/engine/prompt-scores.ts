import { type SampleResponse, TensorData, TopkLogprobs } from '@tinkex/types';
import { checkToken } from './context-symbols.js';
import { EngineUserError } from './engine.js';
import type { RandomStream } from './random.js';
import type { ChoiceSettings } from './token-choice.js';
import type { TokenScorer } from './token-scorer.js';
import type { Vocabulary } from './vocabulary.js';

/** What to compute about the tokens of a prompt. */
export interface PromptScoring {
  readonly hasLogprobs: boolean;
  /** How many of the most likely tokens to return for each position; 0 for none. */
  readonly topk: number;
  /** The first position whose token, and whose most likely tokens, are scored. */
  readonly from: number;
  /** Token ids to score, -1 for none: row i belongs to position i + 1. */
  readonly targets: TensorData | undefined;
  /** How many tokens to draw for each position; 0 for none. */
  readonly alternatives: number;
  /** How those are drawn. */
  readonly choice: ChoiceSettings;
  readonly random: RandomStream;
}

/** What an empty cell of the top-k matrices holds. */
const EMPTY_LOGPROB = -99999;

/** One walk over the prompt for all kinds of scores. The first position has none; the token of an image or of audio has no log-probability. */
export function scorePrompt(
  model: TokenScorer,
  vocabulary: Vocabulary,
  prompt: Int32Array,
  scoring: PromptScoring,
): Partial<SampleResponse> {
  const { hasLogprobs, topk, from, targets, alternatives, choice, random } = scoring;
  const promptLogprobs = hasLogprobs ? new Float32Array(prompt.length).fill(Number.NaN) : undefined;
  const rows = topk > 0 ? new TopkRows(topk, prompt.length, vocabulary.size) : undefined;
  const targetScores = targets && new TargetScores(targets, vocabulary, prompt.length);
  const drawn = alternatives > 0 ? new DrawnTokens(alternatives, prompt.length) : undefined;
  const first = targetScores === undefined && drawn === undefined ? from : 1;
  const isIdle = promptLogprobs === undefined && rows === undefined && targetScores === undefined && drawn === undefined;
  for (let position = first; position < prompt.length && !isIdle; position++) {
    const symbol = prompt[position] as number;
    model.forward(prompt, position - 1);
    targetScores?.set(position - 1, model);
    drawn?.set(position - 1, model, choice, random);
    if (position < from || symbol >= vocabulary.size) continue;
    if (promptLogprobs !== undefined) promptLogprobs[position] = model.logprob(symbol);
    rows?.set(position, model);
  }
  return {
    ...(promptLogprobs === undefined ? {} : { promptLogprobs }),
    ...(rows === undefined ? {} : { topkPromptLogprobs: rows.first(prompt.length) }),
    ...(targetScores === undefined ? {} : { targetPromptLogprobs: targetScores.tensor }),
    ...(drawn === undefined ? {} : { promptAltTokens: drawn.tensors }),
  };
}

/** The most likely tokens of each position; rows that are not set are empty. */
export class TopkRows {
  readonly #k: number;
  readonly #tokenIds: Int32Array;
  readonly #logprobs: Float32Array;

  constructor(k: number, length: number, vocabularySize: number) {
    this.#k = Math.min(k, vocabularySize);
    this.#tokenIds = new Int32Array(length * this.#k);
    this.#logprobs = new Float32Array(length * this.#k).fill(EMPTY_LOGPROB);
  }

  /** Takes the row from the last forward pass. */
  set(position: number, model: TokenScorer): void {
    const start = position * this.#k;
    const best = model.mostLikely(this.#k);
    this.#tokenIds.set(best, start);
    best.forEach((token, rank) => {
      this.#logprobs[start + rank] = model.logprob(token);
    });
  }

  /** The first `length` rows. */
  first(length: number): TopkLogprobs {
    const cells = length * this.#k;
    return new TopkLogprobs({ tokenIds: this.#tokenIds.slice(0, cells), logprobs: this.#logprobs.slice(0, cells), k: this.#k, length });
  }
}

/** The scores of given token ids, in their layout; 0 where none is requested. */
class TargetScores {
  readonly #targets: TensorData;
  readonly #ids: Int32Array;
  readonly #scores: Float32Array;

  /** Throws {@link EngineUserError} for a wrong shape, for no id at all, and for ids outside the vocabulary. */
  constructor(targets: TensorData, vocabulary: Vocabulary, promptLength: number) {
    const { data, dtype, shape = [] } = targets;
    if (dtype !== 'int64' || shape.length !== 2 || shape[0] !== promptLength - 1) {
      throw new EngineUserError(
        `target_prompt_logprobs must be int64 of shape [${promptLength - 1}, K], one row for each prompt token after the first; got ${dtype} [${shape.join(', ')}].`,
      );
    }
    this.#targets = targets;
    this.#ids = Int32Array.from(data as BigInt64Array, Number);
    this.#scores = new Float32Array(data.length);
    if (!this.#ids.some((id) => id !== -1)) throw new EngineUserError('target_prompt_logprobs names no token: every cell is -1.');
    for (const id of this.#ids) if (id !== -1) checkToken(id, vocabulary, 'in target_prompt_logprobs');
  }

  set(row: number, model: TokenScorer): void {
    const { shape = [], sparseCrowIndices: starts } = this.#targets;
    const columns = shape[1] ?? 0;
    const start = starts === undefined ? row * columns : Number(starts[row]);
    const end = starts === undefined ? start + columns : Number(starts[row + 1]);
    for (let index = start; index < end; index++) {
      const id = this.#ids[index] as number;
      if (id !== -1) this.#scores[index] = model.logprob(id);
    }
  }

  get tensor(): TensorData {
    return new TensorData({ ...this.#targets, data: this.#scores, dtype: 'float32' });
  }
}

/** Independent draws for each position, with replacement. */
class DrawnTokens {
  readonly #shape: readonly [number, number];
  readonly #tokens: BigInt64Array;
  readonly #logprobs: Float32Array;

  constructor(k: number, promptLength: number) {
    this.#shape = [promptLength - 1, k];
    this.#tokens = new BigInt64Array((promptLength - 1) * k);
    this.#logprobs = new Float32Array((promptLength - 1) * k);
  }

  set(row: number, model: TokenScorer, choice: ChoiceSettings, random: RandomStream): void {
    const [, k] = this.#shape;
    for (let index = row * k; index < (row + 1) * k; index++) {
      const token = model.draw(choice, random);
      this.#tokens[index] = BigInt(token);
      this.#logprobs[index] = model.logprob(token);
    }
  }

  get tensors(): NonNullable<SampleResponse['promptAltTokens']> {
    return {
      tokens: new TensorData({ data: this.#tokens, dtype: 'int64', shape: this.#shape }),
      logprobs: new TensorData({ data: this.#logprobs, dtype: 'float32', shape: this.#shape }),
    };
  }
}
