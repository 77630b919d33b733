import { ATTENTION_INPUTS, INPUT_AMPLITUDE, MEMORY_SLOTS, VOCABULARY, WIDTH } from './geometry.js';
import { fillUniform, hashText, seededStream } from './random.js';

/** The three places an adapter can sit, as `train_attn`, `train_mlp` and `train_unembed` name them. */
export const ADAPTER_MODULES = ['attn', 'mlp', 'unembed'] as const;
export type AdapterModule = (typeof ADAPTER_MODULES)[number];

/**
 * A low-rank pair: the module's output gains `scale · B · A · input`. Both matrices are stored with the rank as the fast axis
 * (`a`: inputs × rank, `b`: outputs × rank), because a sparse input is then a contiguous row of `a`.
 */
export interface LowRankPair<T> {
  readonly a: T;
  readonly b: T;
}

interface ModuleShape {
  readonly inputs: number;
  readonly outputs: number;
  /** Deviation of A at the start. B starts at zero, so a new adapter changes nothing. */
  readonly deviation: number;
  /** Value of an active input. */
  readonly amplitude: number;
  /** The path of the module in a transformer checkpoint. */
  readonly path: string;
}

export const MODULE_SHAPES: Readonly<Record<AdapterModule, ModuleShape>> = {
  attn: {
    inputs: ATTENTION_INPUTS,
    outputs: WIDTH,
    deviation: 0.05,
    amplitude: INPUT_AMPLITUDE,
    path: 'model.layers.0.self_attn.o_proj',
  },
  mlp: {
    inputs: MEMORY_SLOTS,
    outputs: WIDTH,
    deviation: 0.05,
    amplitude: INPUT_AMPLITUDE,
    path: 'model.layers.0.mlp.down_proj',
  },
  unembed: { inputs: WIDTH, outputs: VOCABULARY, deviation: 0.5, amplitude: 1, path: 'lm_head' },
};

/** `lora_alpha`: with `scale = alpha / rank` one learning rate suits every rank. */
export const LORA_ALPHA = 32;

/** The shape of an adapter; two adapters of equal shape can exchange weights. */
export interface AdapterShape {
  readonly rank: number;
  readonly modules: readonly AdapterModule[];
}

/** One matrix of an adapter with its name, e.g. `attn.a`. */
export interface AdapterMatrix<T> {
  readonly name: string;
  readonly values: T;
}

/** The trainable weights. */
export class LoraAdapter implements AdapterShape {
  readonly rank: number;
  readonly modules: readonly AdapterModule[];
  readonly scale: number;
  readonly #pairs: ReadonlyMap<AdapterModule, LowRankPair<Float32Array>>;

  constructor(shape: AdapterShape) {
    this.rank = shape.rank;
    this.modules = ADAPTER_MODULES.filter((module) => shape.modules.includes(module));
    this.scale = LORA_ALPHA / shape.rank;
    this.#pairs = allocatePairs(this, (length) => new Float32Array(length));
  }

  /** The weights of a module, or undefined where this adapter has none. */
  pair(module: AdapterModule): LowRankPair<Float32Array> | undefined {
    return this.#pairs.get(module);
  }

  /** Draws A again from `seeds` and sets B to zero. Each module has its own stream: leaving one out does not change the others. */
  initialize(...seeds: readonly number[]): void {
    for (const [module, { a, b }] of this.#pairs) {
      fillUniform(a, MODULE_SHAPES[module].deviation, seededStream(...seeds, hashText(module)));
      b.fill(0);
    }
  }

  /** Takes over the weights of an adapter of the same shape. */
  copyFrom(other: LoraAdapter): void {
    for (const [module, { a, b }] of this.#pairs) {
      const source = other.pair(module);
      if (source === undefined) throw new Error(`The other adapter has no ${module}.`);
      a.set(source.a);
      b.set(source.b);
    }
  }

  /** Every matrix, in a fixed order. */
  matrices(): AdapterMatrix<Float32Array>[] {
    return listMatrices(this.#pairs);
  }
}

/** One array of zeros, created by `allocate`, for each matrix of an adapter of this shape. */
export function allocatePairs<T>(shape: AdapterShape, allocate: (length: number) => T): Map<AdapterModule, LowRankPair<T>> {
  return new Map(
    shape.modules.map((module) => {
      const { inputs, outputs } = MODULE_SHAPES[module];
      return [module, { a: allocate(inputs * shape.rank), b: allocate(outputs * shape.rank) }];
    }),
  );
}

/** Every matrix with its name, in the order of {@link ADAPTER_MODULES}, A before B. */
export function listMatrices<T>(pairs: ReadonlyMap<AdapterModule, LowRankPair<T>>): AdapterMatrix<T>[] {
  return [...pairs].flatMap(([module, { a, b }]) => [
    { name: `${module}.a`, values: a },
    { name: `${module}.b`, values: b },
  ]);
}
