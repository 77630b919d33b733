import {
  chunkLength,
  type Datum,
  datum,
  encodedText,
  ModelInput,
  type ModelInputChunk,
  type TensorData,
  ValidationError,
} from '@tinkex/types';
import type { Trajectory, TrajectoryGroup } from './rollouts/trajectory.js';

/** Which episode an example was made of. */
export interface DatumOrigin {
  readonly groupIndex: number;
  readonly trajectoryIndex: number;
}

/** An example with the mask of its sampled positions, which stays in this process. */
export interface RlDatum {
  readonly datum: Datum;
  /** 1 for each target that the model sampled. */
  readonly mask: Float32Array;
  readonly origin: DatumOrigin;
}

/** A metric of an environment that keeps a turn out of the loss. */
const MASKED_TURN = 'parse_error_masked';

/** Examples of all episodes: by group, then by episode. A group's `advantages` has one entry per episode. */
export function assembleData(groups: readonly TrajectoryGroup[], advantages: readonly (readonly number[])[]): RlDatum[] {
  return groups.flatMap(({ trajectories }, groupIndex) =>
    trajectories.flatMap((trajectory, trajectoryIndex) => {
      const origin = { groupIndex, trajectoryIndex };
      return trajectoryToData(trajectory, advantages[groupIndex]?.[trajectoryIndex] ?? 0).map((each) => ({ ...each, origin }));
    }),
  );
}

/**
 * Examples of one episode. Turns whose observation begins with all that came before share one example, so that their common beginning is computed once; a
 * renderer that rewrites earlier turns (`hasExtensionProperty` false) gives one example per turn.
 *
 * @throws ValidationError for a sequence of one token, which has nothing to predict.
 */
export function trajectoryToData({ transitions }: Trajectory, advantage: number): Omit<RlDatum, 'origin'>[] {
  const data: Omit<RlDatum, 'origin'>[] = [];
  let sequence = new Sequence();
  for (const { observation, action, metrics } of transitions) {
    let added = sequence.extensionOf(observation);
    if (added === undefined) {
      data.push(...sequence.close());
      sequence = new Sequence();
      added = observation.chunks;
    }
    const isMasked = (metrics[MASKED_TURN] ?? 0) >= 1;
    sequence.addObservation(added);
    sequence.addAction(action.tokens, action.logprobs, isMasked ? 0 : advantage, isMasked ? 0 : 1);
  }
  return [...data, ...sequence.close()];
}

/** Observations and actions in order, with what each position was sampled with. */
class Sequence {
  readonly #chunks: ModelInputChunk[] = [];
  #text: number[] = [];
  readonly #logprobs: number[] = [];
  readonly #advantages: number[] = [];
  readonly #mask: number[] = [];

  /** What an observation adds to this sequence; undefined if it does not begin with it. */
  extensionOf({ chunks }: ModelInput): readonly ModelInputChunk[] | undefined {
    const positions = positionsOf([...this.#chunks, encodedText(this.#text)]);
    const observed = positionsOf(chunks);
    if (observed.length < positions.length) return undefined;
    for (const [index, position] of positions.entries()) if (!isSamePosition(position, observed[index])) return undefined;
    return chunksOf(observed.slice(positions.length));
  }

  addObservation(chunks: readonly ModelInputChunk[]): void {
    for (const chunk of chunks) {
      if (chunk.type === 'encoded_text') for (const token of chunk.tokens) this.#text.push(token);
      else this.#addMedia(chunk);
      for (let index = chunkLength(chunk); index > 0; index--) this.#addPosition(0, 0, 0);
    }
  }

  addAction(tokens: ArrayLike<number>, logprobs: ArrayLike<number>, advantage: number, mask: number): void {
    for (let index = 0; index < tokens.length; index++) {
      this.#text.push(tokens[index] as number);
      this.#addPosition(logprobs[index] ?? 0, advantage, mask);
    }
  }

  /** The sequence as an example, or nothing if it is empty. */
  close(): Omit<RlDatum, 'origin'>[] {
    const length = this.#mask.length;
    if (length === 0) return [];
    if (length < 2 || this.#text.length === 0) {
      const issues = [{ path: 'trajectory', message: 'must end with text and have at least two positions: one to read, one to predict.' }];
      throw new ValidationError({ direction: 'request', subject: 'trajectory', issues });
    }
    const targets = [...this.#chunks, encodedText(this.#text)].flatMap((chunk) =>
      chunk.type === 'encoded_text' ? Array.from(chunk.tokens) : new Array<number>(chunkLength(chunk)).fill(0),
    );
    const input = this.#text.length === 1 ? this.#chunks : [...this.#chunks, encodedText(this.#text.slice(0, -1))];
    const made = datum({
      modelInput: new ModelInput(input),
      lossFnInputs: {
        targetTokens: targets.slice(1),
        logprobs: Float32Array.from(this.#logprobs.slice(1)),
        advantages: Float32Array.from(this.#advantages.slice(1)),
      },
    });
    return [{ datum: made, mask: Float32Array.from(this.#mask.slice(1)) }];
  }

  #addMedia(chunk: ModelInputChunk): void {
    if (this.#text.length > 0) this.#chunks.push(encodedText(this.#text));
    this.#text = [];
    this.#chunks.push(chunk);
  }

  #addPosition(logprob: number, advantage: number, mask: number): void {
    this.#logprobs.push(logprob);
    this.#advantages.push(advantage);
    this.#mask.push(mask);
  }
}

/** One element per text token and per other chunk: what a sequence is compared by. */
type Position = number | Exclude<ModelInputChunk, { readonly type: 'encoded_text' }>;

function positionsOf(chunks: readonly ModelInputChunk[]): Position[] {
  return chunks.flatMap((chunk): Position[] => (chunk.type === 'encoded_text' ? Array.from(chunk.tokens) : [chunk]));
}

function chunksOf(positions: readonly Position[]): ModelInputChunk[] {
  const chunks: ModelInputChunk[] = [];
  let text: number[] = [];
  const endText = () => {
    if (text.length > 0) chunks.push(encodedText(text));
    text = [];
  };
  for (const position of positions) {
    if (typeof position === 'number') text.push(position);
    else {
      endText();
      chunks.push(position);
    }
  }
  endText();
  return chunks;
}

function isSamePosition(left: Position, right: Position | undefined): boolean {
  if (typeof left === 'number' || typeof right === 'number' || right === undefined) return left === right;
  const [one, other] = [left, right].map((chunk) => Object.entries(chunk)) as [[string, unknown][], [string, unknown][]];
  return (
    one.length === other.length && one.every(([key, value], index) => key === other[index]?.[0] && isSameValue(value, other[index]?.[1]))
  );
}

function isSameValue(left: unknown, right: unknown): boolean {
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right) === 0;
  return left === right;
}

/** The values of a loss input. */
export function inputOf({ datum: { lossFnInputs } }: Pick<RlDatum, 'datum'>, name: 'logprobs' | 'advantages'): Float32Array {
  return (lossFnInputs[name] as TensorData).data as Float32Array;
}

/** The same examples with other advantages. */
export function withAdvantages(data: readonly RlDatum[], advantages: readonly Float32Array[]): RlDatum[] {
  return data.map((each, index) => {
    const { modelInput, lossFnInputs } = each.datum;
    return { ...each, datum: datum({ modelInput, lossFnInputs: { ...lossFnInputs, advantages: advantages[index] } }) };
  });
}
