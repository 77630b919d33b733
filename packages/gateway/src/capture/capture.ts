import type { Completion, Message, ToolSpec } from '@tinkex/renderers';
import type { ModelInput } from '@tinkex/types';

/** One answer of a captured exchange. */
export interface CapturedChoice {
  readonly message: Message;
  /** All sampled tokens, the stop token included. */
  readonly tokens: Int32Array;
  /** Of each token, when the sampler gives them. */
  readonly logprobs?: Float32Array | undefined;
  /** The server's names of the samples, when it gives them. */
  readonly sequenceIds: readonly string[];
  readonly finishReason: string;
}

/** One request and its answers, with the tokens that were really sampled: what training on an agent's own work needs. */
export interface CapturedExchange {
  /** The ID of the response. */
  readonly id: string;
  /** Which exchanges belong together: the `x-tinkex-episode` header of the request. */
  readonly episode?: string | undefined;
  readonly api: 'openai' | 'anthropic';
  /** As the request named it. */
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly prompt: ModelInput;
  readonly choices: readonly CapturedChoice[];
}

/** Takes what was exchanged. A request is answered when its exchange has been taken; when that fails, so does the request: nothing is lost in silence. */
export type CaptureSink = (exchange: CapturedExchange) => void | Promise<void>;

/** The header that names the episode of a request. */
export const EPISODE_HEADER = 'x-tinkex-episode';

/** An exchange as it is captured. */
export function exchangeOf(
  facts: Omit<CapturedExchange, 'prompt' | 'choices'>,
  { prompt, choices }: Pick<Completion, 'prompt' | 'choices'>,
): CapturedExchange {
  return {
    ...facts,
    prompt,
    choices: choices.map(({ message, tokens, logprobs, sequenceIds, finishReason }) => ({
      message,
      tokens,
      logprobs,
      sequenceIds,
      finishReason,
    })),
  };
}
