import type { Message, ToolSpec } from '@tinkex/renderers';
import type { SamplingParams } from '@tinkex/types';
import type { ReasoningEffort } from '../models/gateway-model.js';

/** Which tools the model may or must call. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** A request of either API, in our own terms. */
export interface GenerationRequest {
  /** As the request names it. */
  readonly model: string;
  readonly messages: readonly Message[];
  /** How the answer begins. */
  readonly prefill?: string | undefined;
  readonly tools?: readonly ToolSpec[] | undefined;
  readonly toolChoice: ToolChoice;
  /** Whether one answer may call several tools. Default true. */
  readonly hasParallelToolCalls?: boolean | undefined;
  readonly samplingParams: SamplingParams;
  readonly numSamples: number;
  readonly topLogprobs?: number | undefined;
  readonly effort?: ReasoningEffort | undefined;
  /** Says what is wrong with the text of an answer, such as that it does not fit a schema. */
  readonly checkText?: ((text: string) => string | undefined) | undefined;
}
