import { invalidRequest, type ValidationError } from '../errors/validation-error.js';
import type { CustomLossArgument, CustomLossInputRank } from './custom-loss-graph.js';
import type { LossRecorder } from './loss-recorder.js';

/** A tensor of the loss, or a number that is repeated as often as needed. */
export type LossOperand = LossTensor | number;

/** One axis of an index: a position, a range, `null` for a new axis of size 1, or `'...'` for all axes that are not named. */
export type LossIndex = number | null | '...' | LossSlice;

/** Part of an axis, as in Python's `x[start:stop:step]`. */
export interface LossSlice {
  readonly start?: number | undefined;
  readonly stop?: number | undefined;
  readonly step?: number | undefined;
}

/**
 * A tensor of a custom loss while it is traced: it has no value, only operations. Each method records one step and returns its result.
 * Shapes broadcast as in torch and NumPy. Do not branch on a tensor: use {@link LossTensor.where}.
 */
export class LossTensor {
  /** @internal */
  readonly recorder: LossRecorder;
  /** @internal */
  readonly node: string;
  /** @internal The rank of an input. Undefined for results: ranks follow from the data. */
  readonly inputRank: CustomLossInputRank | undefined;

  /** @internal */
  constructor(recorder: LossRecorder, node: string, inputRank?: CustomLossInputRank) {
    this.recorder = recorder;
    this.node = node;
    this.inputRank = inputRank;
  }

  /** `this + other` */
  add(other: LossOperand): LossTensor {
    return this.#operator('add', other);
  }

  /** `this - other` */
  sub(other: LossOperand): LossTensor {
    return this.#operator('sub', other);
  }

  /** `this * other` */
  mul(other: LossOperand): LossTensor {
    return this.#operator('mul', other);
  }

  /** `this / other` */
  div(other: LossOperand): LossTensor {
    return this.#operator('truediv', other);
  }

  /** `this` to the power of `exponent` */
  pow(exponent: LossOperand): LossTensor {
    return this.#operator('pow', exponent);
  }

  /** `-this` */
  neg(): LossTensor {
    return this.#function('operator.neg');
  }

  /** The absolute value. Its derivative at 0 is 0. */
  abs(): LossTensor {
    return this.#function('torch.abs');
  }

  /** e to the power of `this` */
  exp(): LossTensor {
    return this.#function('torch.exp');
  }

  /** The natural logarithm. */
  log(): LossTensor {
    return this.#function('torch.log');
  }

  /** The square root. */
  sqrt(): LossTensor {
    return this.#function('torch.sqrt');
  }

  /** `1 / (1 + exp(-this))` */
  sigmoid(): LossTensor {
    return this.#function('torch.sigmoid');
  }

  /** `log(1 + exp(this))`; linear above 20, as in torch. */
  softplus(): LossTensor {
    return this.#function('torch._C._nn.softplus');
  }

  /** The hyperbolic tangent. */
  tanh(): LossTensor {
    return this.#function('torch.tanh');
  }

  /** Limits values to a range. Give at least one bound. Outside of the range the derivative is 0. */
  clamp({ min, max }: { readonly min?: number | undefined; readonly max?: number | undefined }): LossTensor {
    if (min === undefined && max === undefined) throw invalidLoss('calls clamp without min and max; give at least one');
    const bounds = Object.entries({ min, max }).filter((bound): bound is [string, number] => bound[1] !== undefined);
    const kwargs = Object.fromEntries(bounds.map(([name, bound]) => [name, this.recorder.argument(bound)]));
    return this.recorder.call('call_function', 'torch.clamp', [{ ref: this.node }], kwargs);
  }

  /** The smaller of two values, element by element. */
  minimum(other: LossOperand): LossTensor {
    return this.#function('torch.minimum', this.#tensor(other));
  }

  /** The larger of two values, element by element. */
  maximum(other: LossOperand): LossTensor {
    return this.#function('torch.maximum', this.#tensor(other));
  }

  /** Where this mask holds, the elements of `yes`, elsewhere those of `no`. Make masks with {@link LossTensor.gt} and its siblings. */
  where(yes: LossOperand, no: LossOperand): LossTensor {
    return this.#function('torch.where', yes, no);
  }

  /** A mask: `this === other` */
  eq(other: LossOperand): LossTensor {
    return this.#operator('eq', other);
  }

  /** A mask: `this !== other` */
  ne(other: LossOperand): LossTensor {
    return this.#operator('ne', other);
  }

  /** A mask: `this < other` */
  lt(other: LossOperand): LossTensor {
    return this.#operator('lt', other);
  }

  /** A mask: `this <= other` */
  le(other: LossOperand): LossTensor {
    return this.#operator('le', other);
  }

  /** A mask: `this > other` */
  gt(other: LossOperand): LossTensor {
    return this.#operator('gt', other);
  }

  /** A mask: `this >= other` */
  ge(other: LossOperand): LossTensor {
    return this.#operator('ge', other);
  }

  /** A mask that holds where both masks hold. */
  and(other: LossTensor): LossTensor {
    return this.#operator('and_', other);
  }

  /** A mask that holds where one of the masks holds. */
  or(other: LossTensor): LossTensor {
    return this.#operator('or_', other);
  }

  /** A mask that holds where this one does not. */
  not(): LossTensor {
    return this.#function('operator.invert');
  }

  /** This mask as zeros and ones, to calculate with. */
  float(): LossTensor {
    return this.#method('float');
  }

  /** The sum of all elements, or along one axis. */
  sum(axis?: number): LossTensor {
    return this.#method('sum', axis);
  }

  /** The mean of all elements, or along one axis. */
  mean(axis?: number): LossTensor {
    return this.#method('mean', axis);
  }

  /** The smallest element, or along one axis. Equal ones share the gradient. */
  min(axis?: number): LossTensor {
    return this.#method('amin', axis);
  }

  /** The largest element, or along one axis. Equal ones share the gradient. */
  max(axis?: number): LossTensor {
    return this.#method('amax', axis);
  }

  /** The same values as constants: no gradient flows through. */
  detach(): LossTensor {
    return this.#method('detach');
  }

  /**
   * Part of a tensor.
   *
   * @example
   * x.at(0)                      // the first row
   * x.at({ start: 1 })           // all but the first
   * x.at('...', -1)              // the last column
   */
  at(...indices: readonly LossIndex[]): LossTensor {
    const items = indices.map(indexArgument);
    const [only] = items;
    const index = items.length === 1 && only !== undefined ? only : { tuple: items };
    return this.recorder.call('call_function', 'operator.getitem', [{ ref: this.node }, index]);
  }

  /** @internal */
  [Symbol.toPrimitive](): never {
    throw invalidLoss(
      'uses a tensor as a number or text; it has no value while the loss is traced. Use its methods, and where() to choose. ' +
        'Wrap a jax-js function with jaxLoss of @tinkex/clients/autodiff',
    );
  }

  #operator(name: string, other: LossOperand): LossTensor {
    return this.#function(`operator.${name}`, other);
  }

  #function(target: string, ...others: readonly LossOperand[]): LossTensor {
    const { recorder } = this;
    return recorder.call(
      'call_function',
      target,
      [this, ...others].map((operand) => recorder.argument(operand)),
    );
  }

  #method(target: string, axis?: number): LossTensor {
    const args: CustomLossArgument[] = axis === undefined ? [{ ref: this.node }] : [{ ref: this.node }, this.recorder.argument(axis)];
    return this.recorder.call('call_method', target, args);
  }

  /** torch's minimum and maximum take no plain numbers. */
  #tensor(operand: LossOperand): LossTensor {
    if (operand instanceof LossTensor) return operand;
    return this.recorder.call('call_function', 'torch.full_like', [{ ref: this.node }, this.recorder.argument(operand)]);
  }
}

function indexArgument(index: LossIndex): CustomLossArgument {
  if (index === '...') return { ellipsis: true };
  if (index === null || typeof index === 'number') return index;
  if (typeof index !== 'object') throw invalidLoss(`uses a ${typeof index} as an index`);
  const { start = null, stop = null, step = null } = index;
  return { slice: [start, stop, step] };
}

/** A `ValidationError` about a loss that cannot be traced. */
export function invalidLoss(message: string): ValidationError {
  return invalidRequest('custom loss', '', message);
}
