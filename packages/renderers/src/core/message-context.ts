import type { ValidationError } from '@tinkex/types';
import type { Message } from '../messages/message.js';
import { invalidMessages } from './masks.js';

/** Where a message stands in its conversation. */
export interface MessageContext {
  readonly index: number;
  readonly isLast: boolean;
  readonly previous: Message | undefined;
  readonly next: Message | undefined;
  /** The whole conversation, as the grammar prepared it. */
  readonly messages: readonly Message[];
  /** Index of the last user message, or -1. */
  readonly lastUserIndex: number;
  /** Whether the message belongs to what the assistant does now, as the grammar defines it. */
  readonly isInLastTurn: boolean;
  /** The error for a message that the template cannot write: `field` of the message, as the user numbers it. */
  invalid(field: string, problem: string): ValidationError;
}

/**
 * The context of each message by its index; one past the end is the message that comes next. `given` is the conversation as the user wrote it, by which
 * errors name messages.
 */
export function contextsOf(messages: readonly Message[], turnStart: number, given: readonly Message[]): (index: number) => MessageContext {
  const lastUser = lastUserIndex(messages);
  return (index) => ({
    index,
    isLast: index >= messages.length - 1,
    previous: messages[index - 1],
    next: messages[index + 1],
    messages,
    lastUserIndex: lastUser,
    isInLastTurn: index >= turnStart,
    invalid(field, problem) {
      const place = given.indexOf(messages[index] as Message);
      return invalidMessages(place < 0 ? field : `messages[${place}].${field}`, problem);
    },
  });
}

export function lastUserIndex(messages: readonly Message[]): number {
  return messages.findLastIndex(({ role }) => role === 'user');
}
