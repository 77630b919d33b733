/** One message of a conversation in the playground. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** What the playground wants to hear from a model. */
export interface ChatRequest {
  /** A base model, or the path of a checkpoint (`tinker://…/sampler_weights/…`). */
  readonly model: string;
  /** The conversation; or, with `prompt`, nothing. */
  readonly messages: readonly ChatMessage[];
  /** A text that the model continues, without a chat template. */
  readonly prompt?: string | undefined;
  readonly samples: number;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly seed?: number | undefined;
}

/** A sampled token and the likeliest alternatives. */
export interface ChatToken {
  readonly text: string;
  readonly logprob: number;
  readonly top?: readonly { readonly text: string; readonly logprob: number }[] | undefined;
}

/** One answer. */
export interface ChatSample {
  readonly text: string;
  readonly finishReason?: string | undefined;
  readonly tokens?: readonly ChatToken[] | undefined;
}

/** Samples from a model for the playground. `signal` aborts when the page goes away. */
export type ChatCallback = (request: ChatRequest, options: { readonly signal: AbortSignal }) => Promise<readonly ChatSample[]>;

/** Downloads a checkpoint and returns where it is now. */
export type DownloadCallback = (path: string, options: { readonly signal: AbortSignal }) => Promise<string>;
