import { ValidationError } from '@tinkex/types';
import type { Message } from '../messages/message.js';
import type { TrainOnWhat } from './renderer.js';

/** Every mode of training. */
export const TRAIN_ON_WHAT: readonly TrainOnWhat[] = [
  'last_assistant_message',
  'last_assistant_turn',
  'all_assistant_messages',
  'all_messages',
  'all_tokens',
  'all_user_and_system_messages',
  'customized',
];

/** Whether what a message's author wrote is trained on. Its header is only with `all_tokens`. */
export function isTrained(
  trainOnWhat: TrainOnWhat,
  message: Message,
  { isLast, isInLastTurn }: { readonly isLast: boolean; readonly isInLastTurn: boolean },
): boolean {
  const isAssistant = message.role === 'assistant';
  switch (trainOnWhat) {
    case 'last_assistant_message':
      return isAssistant && isLast;
    case 'last_assistant_turn':
      return isAssistant && isInLastTurn;
    case 'all_assistant_messages':
      return isAssistant;
    case 'all_messages':
    case 'all_tokens':
      return true;
    case 'all_user_and_system_messages':
      return message.role === 'user' || message.role === 'system';
    case 'customized':
      return message.trainable === true;
    default:
      throw unknownMode(trainOnWhat);
  }
}

/** Throws unless `trainable` is on every message for `customized`, and on none otherwise. */
export function checkTrainable(messages: readonly Message[], trainOnWhat: TrainOnWhat): void {
  if (!TRAIN_ON_WHAT.includes(trainOnWhat)) throw unknownMode(trainOnWhat);
  const isCustomized = trainOnWhat === 'customized';
  const wrong = messages.findIndex((message) => (message.trainable === undefined) === isCustomized);
  if (wrong < 0) return;
  throw invalidMessages(
    `messages[${wrong}].trainable`,
    isCustomized
      ? "is missing. With trainOnWhat 'customized' every message needs it, also the system message that some templates add: write that one yourself."
      : `is set, but trainOnWhat is '${trainOnWhat}'. Use 'customized', or remove the field.`,
  );
}

function unknownMode(trainOnWhat: string): ValidationError {
  return invalidMessages('trainOnWhat', `must be one of ${TRAIN_ON_WHAT.join(', ')}; got ${String(trainOnWhat)}.`);
}

/** The error for a conversation that cannot be rendered. */
export function invalidMessages(path: string, problem: string): ValidationError {
  return new ValidationError({ direction: 'request', subject: 'conversation', issues: [{ path, message: problem }] });
}
