import type { TensorData } from '../tensor/tensor-data.js';
import type { Datum } from './datum.js';

/** The loss functions of the service. */
export type LossFnName = 'cross_entropy' | 'importance_sampling' | 'ppo' | 'cispo' | 'dro' | 'gspo' | 'stable_reinforce' | 'custom';

/** The loss functions of the service; a server may have more. */
export type LossFnType = LossFnName | (string & {});

/** Settings of a loss function, by name. True and false travel as 1 and 0. */
export type LossFnConfig = Readonly<Record<string, number | string | boolean>>;

/** A forward pass, with a backward pass unless `forwardOnly`. Answered by a future of a {@link ForwardBackwardOutput}. */
export interface ForwardBackwardRequest {
  readonly modelId: string;
  /** From 1 up. */
  readonly seqId?: number | undefined;
  /** At least one. */
  readonly data: readonly Datum[];
  readonly lossFn: LossFnType;
  /** Names are sent as they are written. */
  readonly lossFnConfig?: LossFnConfig | undefined;
  /** No backward pass, no gradients. Default false. */
  readonly forwardOnly?: boolean | undefined;
}

/** What a forward pass gives. */
export interface ForwardBackwardOutput {
  /** What the server calls the outputs. */
  readonly lossFnOutputType: string;
  /** For each datum, tensors by the server's names. */
  readonly lossFnOutputs: readonly Readonly<Record<string, TensorData>>[];
  /** Named `name:reduction`. Empty on servers that send none; {@link lossOf} computes the loss there too. */
  readonly metrics: Readonly<Record<string, number>>;
}
