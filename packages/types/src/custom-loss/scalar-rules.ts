import type { BinaryRule, UnaryRule } from './elementwise.js';

function sigmoid(x: number): number {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
}

/** `log(1 + e^x)` without overflow. */
function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
}

/** Functions of one number, by their name in torch. Derivatives at kinks are those of torch. */
export const UNARY_RULES = {
  neg: { value: (x) => -x, slope: () => -1 },
  abs: { value: Math.abs, slope: (x) => Math.sign(x) },
  exp: { value: Math.exp, slope: (_, y) => y },
  expm1: { value: Math.expm1, slope: (_, y) => y + 1 },
  log: { value: Math.log, slope: (x) => 1 / x },
  log1p: { value: Math.log1p, slope: (x) => 1 / (1 + x) },
  sqrt: { value: Math.sqrt, slope: (_, y) => 0.5 / y },
  square: { value: (x) => x * x, slope: (x) => 2 * x },
  reciprocal: { value: (x) => 1 / x, slope: (_, y) => -y * y },
  sigmoid: { value: sigmoid, slope: (_, y) => y * (1 - y) },
  tanh: { value: Math.tanh, slope: (_, y) => 1 - y * y },
  relu: { value: (x) => Math.max(x, 0), slope: (x) => (x > 0 ? 1 : 0) },
  sign: { value: Math.sign },
} as const satisfies Readonly<Record<string, UnaryRule>>;

/** `softplus` is linear where `beta * x` exceeds the threshold. */
export function softplusRule(beta: number, threshold: number): UnaryRule {
  return {
    value: (x) => (beta * x > threshold ? x : softplus(beta * x) / beta),
    slope: (x) => (beta * x > threshold ? 1 : sigmoid(beta * x)),
  };
}

/** `log(sigmoid(x))` */
export const LOG_SIGMOID_RULE: UnaryRule = { value: (x) => -softplus(-x), slope: (x) => sigmoid(-x) };

/** Functions of two numbers. Equal arguments of `minimum` and `maximum` share the derivative, as in torch. */
export const BINARY_RULES = {
  add: { value: (a, b) => a + b, slopes: [() => 1, () => 1] },
  sub: { value: (a, b) => a - b, slopes: [() => 1, () => -1] },
  mul: { value: (a, b) => a * b, slopes: [(_, b) => b, (a) => a] },
  div: { value: (a, b) => a / b, slopes: [(_, b) => 1 / b, (_, b, y) => -y / b] },
  pow: {
    value: (a, b) => a ** b,
    slopes: [(a, b) => (b === 0 ? 0 : b * a ** (b - 1)), (a, b, y) => (a === 0 && b >= 0 ? 0 : y * Math.log(a))],
  },
  minimum: { value: Math.min, slopes: [(a, b) => share(a < b, a === b), (a, b) => share(b < a, a === b)] },
  maximum: { value: Math.max, slopes: [(a, b) => share(a > b, a === b), (a, b) => share(b > a, a === b)] },
  /** A value on the bound still has its gradient, unlike with `minimum` and `maximum`. */
  clampMin: { value: Math.max, slopes: [(a, b) => (a >= b ? 1 : 0), (a, b) => (a < b ? 1 : 0)] },
  clampMax: { value: Math.min, slopes: [(a, b) => (a <= b ? 1 : 0), (a, b) => (a > b ? 1 : 0)] },
} as const satisfies Readonly<Record<string, BinaryRule>>;

function share(isChosen: boolean, isEqual: boolean): number {
  return isEqual ? 0.5 : isChosen ? 1 : 0;
}

/** Comparisons, by the names of Python's operators. */
export const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
};
