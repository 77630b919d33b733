import type { SamplingClient, TrainingClient } from '@tinkex/clients';
import type { Usage } from '@tinkex/telemetry/runs';

/** Named numbers. */
export type EvaluationMetrics = Readonly<Record<string, number>>;

/** When an evaluation happens. */
export interface EvaluationContext {
  /** Steps that the weights have taken. Undefined outside of training. */
  readonly step?: number | undefined;
}

/** Measures the weights of a sampling client. */
export interface SamplingEvaluator {
  readonly kind: 'sampling';
  evaluate(client: SamplingClient, context?: EvaluationContext): Promise<EvaluationMetrics>;
  /** The most tokens that one evaluation uses. Needed by runs with `maxCostUsd`. */
  readonly usage?: Usage | undefined;
}

/** Measures the model of a training client. It must not change the model. */
export interface TrainingEvaluator {
  readonly kind: 'training';
  evaluate(client: TrainingClient, context?: EvaluationContext): Promise<EvaluationMetrics>;
  /** The most tokens that one evaluation uses. Needed by runs with `maxCostUsd`. */
  readonly usage?: Usage | undefined;
}

/** Measures a model, during training or without it. */
export type Evaluator = SamplingEvaluator | TrainingEvaluator;
