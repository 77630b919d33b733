import type { EngineCounters } from './engine.js';
import { hashText, mixBits, type RandomStream, seededStream, seedWords } from './random.js';

/** The random numbers of one sample: those for the token at an absolute position of the sequence. */
export type SampleStream = (position: number) => RandomStream;

/** Gives the random numbers for sample `index` of a call; `seed` is the caller's. */
export type SampleStreams = (seed: number | bigint | undefined, prompt: Int32Array) => (index: number) => SampleStream;

const UNSEEDED = 'unseeded';
const PROMPT = 'prompt ';
/** How many prompts are counted; the oldest are forgotten first. */
const MAX_PROMPTS = 1_000_000;

/**
 * Where the random numbers of samples come from, and the counters that keep samples without a seed apart.
 *
 * - `inOrder` (`tinkex/tiny`): one stream per sample; without a seed it depends on the number of the call.
 * - `keyed`: each position has its own stream, so a sample that is cut into pieces equals the whole. Without a seed it depends on the prompt and on how
 *   often that was sampled before, so the order in which calls arrive makes no difference.
 */
export class StreamSource {
  readonly #seed: number;
  #calls = 0;
  readonly #prompts = new Map<string, number>();
  readonly #changed = new Set<string>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  readonly inOrder: SampleStreams = (seed) => {
    const seeds = seed === undefined ? [...seedWords(this.#seed), hashText(UNSEEDED), this.#nextCall()] : seedWords(seed);
    return (index) => {
      const stream = seededStream(...seeds, index);
      return () => stream;
    };
  };

  readonly keyed: SampleStreams = (seed, prompt) => {
    const seeds = seed === undefined ? [...seedWords(this.#seed), ...this.#nextOf(prompt)] : seedWords(seed);
    return (index) => (position) => seededStream(...seeds, index, position);
  };

  readonly counters: EngineCounters = {
    entries: () => [[UNSEEDED, this.#calls], ...this.#prompts],
    takeChanged: () => {
      const changed = [...this.#changed].map((name) => [name, this.#valueOf(name)] as const);
      this.#changed.clear();
      return changed;
    },
    restore: (entries) => {
      for (const [name, value] of entries) {
        if (name === UNSEEDED) this.#calls = value;
        else if (name.startsWith(PROMPT)) this.#prompts.set(name, value);
      }
      this.#changed.clear();
    },
  };

  #valueOf(name: string): number {
    return name === UNSEEDED ? this.#calls : (this.#prompts.get(name) ?? 0);
  }

  #nextCall(): number {
    this.#changed.add(UNSEEDED);
    return ++this.#calls;
  }

  /** A hash of the prompt, and how often it was sampled before. */
  #nextOf(prompt: Int32Array): number[] {
    const words = [hashSymbols(prompt, 0x9e3779b9), hashSymbols(prompt, 0x85ebca6b)];
    const name = PROMPT + words.map((word) => word.toString(16).padStart(8, '0')).join('');
    const before = this.#prompts.get(name) ?? 0;
    this.#prompts.delete(name);
    this.#prompts.set(name, before + 1);
    this.#changed.add(name);
    for (const oldest of this.#prompts.keys()) {
      if (this.#prompts.size <= MAX_PROMPTS) break;
      this.#prompts.delete(oldest);
    }
    return [...words, before];
  }
}

function hashSymbols(symbols: Int32Array, start: number): number {
  let hash = start;
  for (let index = 0; index < symbols.length; index++) hash = mixBits(Math.imul(hash, 31) ^ (symbols[index] as number));
  return hash >>> 0;
}
