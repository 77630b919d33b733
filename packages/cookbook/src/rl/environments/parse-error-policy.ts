/** What happens when the model's message cannot be read. */
export interface ParseErrorPolicy {
  /** How many unreadable tool calls in a row are answered with an explanation before the episode ends. */
  readonly maxConsecutive: number;
  /** What each of them takes from the reward. Default 0. */
  readonly penaltyPerError?: number | undefined;
  /** The reward of the turn that ends the episode. Default 0. */
  readonly terminalReward?: number | undefined;
  /** Whether such turns stay out of the loss. Default false. */
  readonly maskErrorTurns?: boolean | undefined;
  /** What the model receives; `{details}` stands for the error. */
  readonly retryMessageTemplate?: string | undefined;
}

const DEFAULT_TEMPLATE = 'The previous message had a formatting issue.\nError: {details}';

/** The message that answers an unreadable one. */
export function retryMessage({ retryMessageTemplate = DEFAULT_TEMPLATE }: ParseErrorPolicy, details: string): string {
  return retryMessageTemplate.replace('{details}', () => details);
}
