const MAX_MODELS = 1_000;

/** Metrics with the step that they belong to. */
export interface StepMetrics {
  readonly step: number;
  readonly metrics: Readonly<Record<string, number>>;
}

/** Gives the metrics of training operations their step: the number of optimizer steps that the model has had before. */
export class StepCounter {
  readonly #steps = new Map<string, number>();

  /** How many optimizer steps a model has had. */
  of(modelId: string): number {
    return this.#steps.get(modelId) ?? 0;
  }

  /** Undefined if the operation has nothing to show. */
  record(type: string, modelId: string, tokens: number, metrics: Readonly<Record<string, number>>): StepMetrics | undefined {
    const step = this.of(modelId);
    if (type === 'OptimStep') {
      if (this.#steps.size >= MAX_MODELS && !this.#steps.has(modelId)) return undefined;
      this.#steps.set(modelId, step + 1);
    }
    const named = { ...lossPerToken(metrics, tokens), ...metrics };
    if (Object.keys(named).length === 0) return undefined;
    // A forward pass without a backward one is an evaluation.
    if (type === 'Forward') return { step, metrics: prefixed('validation/', named) };
    return { step, metrics: named };
  }
}

/** A summed loss says little; divided by what was summed over it can be compared. */
function lossPerToken(metrics: Readonly<Record<string, number>>, tokens: number): Record<string, number> {
  const sum = metrics['loss:sum'];
  const count = metrics['weights:sum'] ?? metrics['tokens:sum'] ?? tokens;
  return sum === undefined || !(count > 0) ? {} : { 'loss per token': sum / count };
}

function prefixed(prefix: string, metrics: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [prefix + name, value]));
}
