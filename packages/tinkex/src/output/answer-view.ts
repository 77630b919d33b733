import type { CompletionEvent, Message } from '@tinkex/renderers';
import { counted } from './format-time.js';
import { printable } from './printable.js';
import type { Terminal } from './terminal.js';

/** Shows answers while they are sampled. Thinking is folded to one line unless it is wanted. */
export class AnswerView {
  readonly #terminal: Terminal;
  /** Whether thinking is shown in full. */
  isThinkingShown: boolean;

  constructor(terminal: Terminal, isThinkingShown: boolean) {
    this.#terminal = terminal;
    this.isThinkingShown = isThinkingShown;
  }

  /** Writes an answer piece by piece. Returns the message, or undefined when it was interrupted. */
  async show(events: AsyncIterable<CompletionEvent>): Promise<Message | undefined> {
    const { style, isTty } = this.#terminal;
    let [thought, hasText] = ['', false];
    const endThinking = (): void => {
      if (thought === '') return;
      if (this.isThinkingShown) this.#terminal.write('\n\n');
      else if (isTty)
        this.#terminal.write(`\r\u001b[2K${style.dim(`▸ thought in ${counted(thought.split(/\s+/).length, 'word')}; /think shows it`)}\n`);
      thought = '';
    };
    for await (const event of events) {
      if (event.type === 'thinking') {
        if (thought === '' && !this.isThinkingShown && isTty) this.#terminal.write(style.dim('▸ thinking…'));
        if (this.isThinkingShown) this.#terminal.write(style.dim(safe(event.thinking)));
        thought += event.thinking;
      } else if (event.type === 'text') {
        endThinking();
        this.#terminal.write(safe(hasText ? event.text : event.text.trimStart()));
        hasText ||= event.text.trim() !== '';
      } else if (event.type === 'toolCall') {
        endThinking();
        const { name, arguments: given } = event.toolCall.function;
        this.#terminal.write(style.yellow(printable(`[calls ${name}(${given})]`)));
      } else if (event.type === 'completion') {
        endThinking();
        this.#terminal.write('\n');
        if (event.completion.finishReason === 'length') this.#terminal.note(style.dim('(cut off; --max-tokens allows more)'));
        return event.completion.message;
      }
    }
    return undefined;
  }
}

/** What a model says, without what could control the terminal. Line breaks and tabs stay. */
function safe(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}/gu, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
