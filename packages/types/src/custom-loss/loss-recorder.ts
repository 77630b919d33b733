import type { CustomLossArgument, CustomLossInputRank, CustomLossNode, CustomLossNodeOp } from './custom-loss-graph.js';
import { invalidLoss, type LossOperand, LossTensor } from './loss-tensor.js';

/** Python's own names, which torch.fx does not give to nodes. */
const BUILT_IN_NAMES: ReadonlySet<string> = new Set(['abs', 'max', 'min', 'pow', 'sum']);

/** Records the nodes of one custom loss. */
export class LossRecorder {
  readonly nodes: CustomLossNode[] = [];
  readonly #used = new Map<string, number>();

  /** Records an input. */
  input(name: string, rank: CustomLossInputRank): LossTensor {
    this.#record('placeholder', name, name, [], {});
    return new LossTensor(this, name, rank);
  }

  /** Records a call and returns its result. */
  call(
    op: 'call_function' | 'call_method',
    target: string,
    args: readonly CustomLossArgument[],
    kwargs: CustomLossNode['kwargs'] = {},
  ): LossTensor {
    return this.#record(op, this.#uniqueName(target), target, args, kwargs);
  }

  /** Records what the loss returns. */
  output(loss: LossTensor, metrics: Readonly<Record<string, LossTensor>>): void {
    const dict = Object.fromEntries(Object.entries(metrics).map(([name, metric]) => [name, this.argument(metric)]));
    this.#record('output', 'output', 'output', [{ tuple: [this.argument(loss), { dict }] }], {});
  }

  /** An operand as an argument. A tensor of another loss is refused: its nodes are not in this graph. */
  argument(operand: LossOperand): CustomLossArgument {
    if (operand instanceof LossTensor) {
      if (operand.recorder !== this) throw invalidLoss('uses a tensor of another custom loss');
      return { ref: operand.node };
    }
    if (typeof operand !== 'number') throw invalidLoss(`uses a ${typeof operand} as an operand; use tensors and numbers`);
    if (Number.isFinite(operand)) return operand;
    return { float: Number.isNaN(operand) ? 'nan' : operand > 0 ? 'inf' : '-inf' };
  }

  #record(
    op: CustomLossNodeOp,
    name: string,
    target: string,
    args: readonly CustomLossArgument[],
    kwargs: CustomLossNode['kwargs'],
  ): LossTensor {
    this.nodes.push({ op, name, target, args, kwargs });
    return new LossTensor(this, name);
  }

  /** The names that torch.fx would choose: `mul`, `mul_1`, and `sum_1` for names that Python has already. */
  #uniqueName(target: string): string {
    const base = target.slice(target.lastIndexOf('.') + 1).replace(/_$/, '');
    for (;;) {
      const count = this.#used.get(base) ?? (BUILT_IN_NAMES.has(base) ? 1 : 0);
      this.#used.set(base, count + 1);
      const name = count === 0 ? base : `${base}_${count}`;
      if (!this.nodes.some((node) => node.name === name)) return name;
    }
  }
}
