import { shownTokens } from '@tinkex/renderers';
import { type Datum, ModelInput, type TensorData, type Tokenizer } from '@tinkex/types';
import type { ExampleToken, ExampleView } from '../api/activity-views.js';

/** Options of `addExamples`. */
export interface ExampleOptions {
  /** The tokenizer of the trained model. */
  readonly tokenizer: Pick<Tokenizer, 'decode'>;
  /** The result of the pass over the same data: its log-probabilities are shown beside the weights. */
  readonly output?: { readonly lossFnOutputs: readonly Readonly<Record<string, TensorData>>[] } | undefined;
  /** The step they belong to. */
  readonly step?: number | undefined;
  /** Default `Example N`. */
  readonly title?: ((index: number) => string) | undefined;
}

/** Longer examples are cut: a page of tokens is more than anybody reads. */
const MAX_TOKENS = 4_096;

/** Data of a training call, token by token: what each one weighs, how likely the trainer found it, and how likely the sampler did. */
export function exampleViews(data: readonly Datum[], { tokenizer, output, step, title }: ExampleOptions): Omit<ExampleView, 'atMs'>[] {
  return data.map((datum, index) => ({
    title: title?.(index) ?? `Example ${index + 1}`,
    step,
    tokens: tokensOf(datum, output?.lossFnOutputs[index]?.['logprobs'], tokenizer),
  }));
}

/** The first input token, then the targets: each is predicted at the position before it. */
function tokensOf(
  { modelInput, lossFnInputs }: Datum,
  logprobs: TensorData | undefined,
  tokenizer: Pick<Tokenizer, 'decode'>,
): ExampleToken[] {
  const inputs = modelInput.toInts();
  const targets = numbersOf(lossFnInputs.targetTokens);
  const isShifted = targets.length === inputs.length;
  const ids = (isShifted ? [inputs[0] ?? 0, ...targets] : Array.from(inputs)).slice(0, MAX_TOKENS);
  // The first token has nothing before it that could predict it.
  const atTargets = (tensor: TensorData | undefined): number[] => (tensor === undefined ? [] : [Number.NaN, ...numbersOf(tensor)]);
  const weights = isShifted ? atTargets(lossFnInputs.weights ?? lossFnInputs['advantages']).map((weight) => weight || 0) : [];
  const trained = atTargets(logprobs);
  const sampled = atTargets(lossFnInputs['logprobs']);
  let position = 0;
  return shownTokens({ modelInput: ModelInput.fromInts(ids), weights: Float32Array.from(weights) }, tokenizer).map((shown) => {
    const at = position;
    position += shown.ids.length;
    return { ...shown, logprob: finiteOr(trained[at]), samplerLogprob: finiteOr(sampled[at]) };
  });
}

function numbersOf(tensor: TensorData | undefined): number[] {
  return tensor?.toNumbers() ?? [];
}

function finiteOr(value: number | undefined): number | undefined {
  return value === undefined || !Number.isFinite(value) ? undefined : value;
}
