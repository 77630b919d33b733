import { byteVocabulary } from '@tinkex/types/wire';
import { ATTENTION_INPUTS, MEMORY_SLOTS, VOCABULARY, WIDTH } from './geometry.js';
import { fillUniform, hashText, seededStream } from './random.js';

/** The frozen weights of a base model: a pure function of its name. */
export interface BaseModel {
  readonly name: string;
  /** `ATTENTION_INPUTS × WIDTH` */
  readonly attention: Float32Array;
  /** `MEMORY_SLOTS × WIDTH` */
  readonly memory: Float32Array;
  /** `VOCABULARY × WIDTH` */
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
  const prior = fillUniform(new Float32Array(VOCABULARY), PRIOR_DEVIATION, random);
  for (let token = 0; token < VOCABULARY; token++) {
    if (!isPrintable(token)) prior[token] = (prior[token] as number) - UNPRINTABLE_PENALTY;
  }
  return {
    name,
    prior,
    attention: fillUniform(new Float32Array(ATTENTION_INPUTS * WIDTH), EMBEDDING_DEVIATION, random),
    memory: fillUniform(new Float32Array(MEMORY_SLOTS * WIDTH), EMBEDDING_DEVIATION, random),
    unembedding: fillUniform(new Float32Array(VOCABULARY * WIDTH), UNEMBEDDING_GAIN / Math.sqrt(WIDTH), random),
  };
}

function isPrintable(token: number): boolean {
  return (token >= 0x20 && token < 0x7f) || token === 0x0a || token === byteVocabulary.eos;
}
