import { byteVocabulary } from '@tinkex/types/wire';
import { attentionInputs, geometry } from './geometry.js';
import { fillUniform, hashText, seededStream } from './random.js';

const { width, memorySlots, vocabulary } = geometry;

/** The frozen weights of a base model: a pure function of its name. */
export interface BaseModel {
  readonly name: string;
  /** `attentionInputs × width` */
  readonly attention: Float32Array;
  /** `memorySlots × width` */
  readonly memory: Float32Array;
  /** `vocabulary × width` */
  readonly unembedding: Float32Array;
  /** Log-odds of each token before any context. */
  readonly prior: Float32Array;
}

const EMBEDDING_DEVIATION = 0.05;
const UNEMBEDDING_GAIN = 3;
const PRIOR_DEVIATION = 0.2;
const UNPRINTABLE_PENALTY = 2;

/** Draws the weights of the base model called `name`. Its text is noise, but mostly printable; its loss is a little under ln(260). */
export function createBaseModel(name: string): BaseModel {
  const random = seededStream(hashText(name));
  const prior = fillUniform(new Float32Array(vocabulary), PRIOR_DEVIATION, random);
  for (let token = 0; token < vocabulary; token++) {
    if (!isPrintable(token)) prior[token] = (prior[token] as number) - UNPRINTABLE_PENALTY;
  }
  return {
    name,
    prior,
    attention: fillUniform(new Float32Array(attentionInputs * width), EMBEDDING_DEVIATION, random),
    memory: fillUniform(new Float32Array(memorySlots * width), EMBEDDING_DEVIATION, random),
    unembedding: fillUniform(new Float32Array(vocabulary * width), UNEMBEDDING_GAIN / Math.sqrt(width), random),
  };
}

function isPrintable(token: number): boolean {
  return (token >= 0x20 && token < 0x7f) || token === 0x0a || token === byteVocabulary.eos;
}
