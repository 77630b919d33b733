import { invalidMessages } from '../core/masks.js';

/** Characters that a message that is trained on takes in the text of the whole conversation: what its author wrote. */
export interface TrainedSpan {
  readonly start: number;
  readonly end: number;
}

/** Renders the first `count` messages of a conversation. */
export type RenderPrefix = (count: number, options: { readonly addGenerationPrompt: boolean }) => string;

/**
 * Where the messages that are trained on stand in the text of a conversation. A template does not say that, so it is found by comparison: a message
 * starts where the prompt before it ends, and ends where the conversation up to it does.
 *
 * Throws a `ValidationError` where this is not so, because the template writes a message differently when others follow (many leave out earlier
 * thinking). Any mask would train on something the model never sees then.
 *
 * @param indices - Of the messages that are trained on, ascending.
 */
export function findTrainedSpans(text: string, indices: readonly number[], messageCount: number, render: RenderPrefix): TrainedSpan[] {
  return indices.map((index) => {
    const prompt = render(index, { addGenerationPrompt: true });
    checkPrefix(prompt, text, index, 'The prompt before it');
    if (index === messageCount - 1) return { start: prompt.length, end: text.length };
    const end = render(index + 1, { addGenerationPrompt: false });
    checkPrefix(end, text, index, 'The conversation up to it');
    return { start: prompt.length, end: end.length };
  });
}

const SHOWN_CHARACTERS = 40;

function checkPrefix(prefix: string, text: string, index: number, what: string): void {
  if (text.startsWith(prefix)) return;
  let place = 0;
  while (prefix[place] === text[place]) place += 1;
  const show = (whole: string) => JSON.stringify(whole.slice(place, place + SHOWN_CHARACTERS));
  throw invalidMessages(
    `messages[${index}]`,
    `cannot be masked. ${what} is not how the rendered conversation begins: at character ${place} it has ${show(prefix)}, the conversation has ${show(text)}. ` +
      'This chat template rewrites earlier messages. Use buildSupervisedExamples, which makes one example per answer.',
  );
}
