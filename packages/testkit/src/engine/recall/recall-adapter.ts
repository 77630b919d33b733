import { ADAPTER_MODULES, type AdapterMatrix, type AdapterModule, type AdapterShape } from '../adapter.js';
import { GATES, MAX_PAIRS, MAX_VOCABULARY, PAIRS_PER_RANK } from './geometry.js';
import { PairTable } from './pair-table.js';
import { RELATION_COUNT } from './relations.js';

/** The trainable weights of a recall model. All start at zero, so a new adapter changes nothing. */
export class RecallAdapter implements AdapterShape {
  readonly rank: number;
  readonly modules: readonly AdapterModule[];
  /** `attn`: one row of relations for all contexts, then one for each gate. */
  readonly relations: Float32Array | undefined;
  /** `mlp`: what followed which n-gram. The rank says how much it holds. */
  readonly memory: PairTable | undefined;
  /** `unembed`: a weight per token; key and token are equal. */
  readonly tokens: PairTable | undefined;

  constructor({ rank, modules }: AdapterShape) {
    this.rank = rank;
    this.modules = ADAPTER_MODULES.filter((module) => modules.includes(module));
    if (modules.includes('attn')) this.relations = new Float32Array((1 + GATES) * RELATION_COUNT);
    if (modules.includes('mlp')) this.memory = new PairTable(Math.min(rank * PAIRS_PER_RANK, MAX_PAIRS));
    if (modules.includes('unembed')) this.tokens = new PairTable(MAX_VOCABULARY);
  }

  /** The tables that grow, by module. */
  tables(): (readonly [AdapterModule, PairTable])[] {
    const all = [
      ['mlp', this.memory],
      ['unembed', this.tokens],
    ] as const;
    return all.flatMap(([name, table]) => (table === undefined ? [] : [[name, table] as const]));
  }

  /** Every array of weights, in a fixed order. Valid until a pair is added. */
  matrices(): AdapterMatrix<Float32Array>[] {
    const relations = this.relations === undefined ? [] : [{ name: 'attn', values: this.relations }];
    return [...relations, ...this.tables().map(([name, { weights }]) => ({ name, values: weights }))];
  }

  /** Takes over the weights of an adapter of the same shape. */
  copyFrom(other: RecallAdapter): void {
    this.relations?.set(other.relations ?? []);
    const theirs = new Map(other.tables());
    for (const [name, table] of this.tables()) {
      const source = theirs.get(name);
      if (source === undefined) throw new Error(`The other adapter has no ${name}.`);
      table.reserve(source.count);
      table.keys.set(source.keys.subarray(0, source.count));
      table.tokens.set(source.tokens.subarray(0, source.count));
      table.weights.fill(0).set(source.weights.subarray(0, source.count));
      table.index(source.count);
    }
  }
}
