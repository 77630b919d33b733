import type { CompletionEvent } from '@tinkex/renderers';

/** What an event of a response says, if it is text or thinking. */
type Said = Extract<CompletionEvent, { type: 'text' | 'thinking' }>;

/**
 * Leaves out the line breaks that frame a thinking block: those at its ends, and those before the text that follows it. Templates write them; they are not part of what the
 * model says. `message-text.ts` does the same for whole messages.
 */
export class ThinkingFrame {
  #last: 'text' | 'thinking' | undefined;
  /** Whether line breaks are left out, because nothing of the block has come yet. */
  #isAtStart = false;
  /** Line breaks that may be the end of a thinking block. */
  #held = '';

  /** The event without framing, or undefined if nothing is left of it. */
  push(event: Said): Said | undefined {
    if (event.type !== this.#last) {
      this.#isAtStart = event.type === 'thinking' || this.#last === 'thinking';
      this.#held = '';
      this.#last = event.type;
    }
    if (event.type === 'text') {
      const text = this.#withoutStart(event.text);
      return text === '' ? undefined : { ...event, text };
    }
    const all = this.#held + this.#withoutStart(event.thinking);
    const thinking = all.replace(/\n+$/, '');
    this.#held = all.slice(thinking.length);
    return thinking === '' ? undefined : { ...event, thinking };
  }

  #withoutStart(text: string): string {
    const rest = this.#isAtStart ? text.replace(/^\n+/, '') : text;
    if (rest !== '') this.#isAtStart = false;
    return rest;
  }
}
