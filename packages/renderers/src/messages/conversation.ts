import type { Message } from './message.js';
import type { ToolSpec } from './tool.js';

/** A conversation, and the tools its model may call. */
export interface Conversation {
  readonly messages: readonly Message[];
  /** Declare them with `renderer.createConversationPrefixWithTools`. */
  readonly tools?: readonly ToolSpec[] | undefined;
}
