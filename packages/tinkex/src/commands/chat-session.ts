import { appendFile } from 'node:fs/promises';
import type { SamplingParams } from '@tinkex/clients';
import type { Message } from '@tinkex/renderers';
import type { OpenModel } from '../config/open-model.js';
import type { AnswerView } from '../output/answer-view.js';
import type { Terminal } from '../output/terminal.js';

/** What a chat works with. */
export interface ChatOptions {
  readonly terminal: Terminal;
  readonly model: OpenModel;
  /** A second model that answers too. */
  readonly rival?: OpenModel | undefined;
  readonly open: (name: string) => Promise<OpenModel>;
  readonly view: AnswerView;
  readonly samplingParams: SamplingParams;
  readonly system?: string | undefined;
}

const HELP = `  /save FILE      append the conversation to FILE, in the format that train sft reads
  /compare MODEL  let another model answer too; without MODEL, only the first again
  /system TEXT    set the system message
  /think          show or fold what a model thinks
  /reset          start again
  /exit           leave`;

/** A conversation with one model, or with two that answer the same messages. The first model's answers continue it. */
export class ChatSession {
  readonly #options: ChatOptions;
  #messages: Message[] = [];
  #system: string | undefined;
  #rival: OpenModel | undefined;

  constructor(options: ChatOptions) {
    this.#options = options;
    this.#system = options.system;
    this.#rival = options.rival;
  }

  /** What is talked to. */
  get label(): string {
    return this.#options.model.label;
  }

  /** Handles one line: a command, or a message to answer. Returns whether the chat is over. */
  async take(line: string, signal: AbortSignal): Promise<boolean> {
    if (!line.startsWith('/')) {
      await this.#answer(line, signal);
      return false;
    }
    const [name = '', ...rest] = line.split(' ');
    const argument = rest.join(' ').trim();
    if (name === '/exit' || name === '/quit') return true;
    try {
      await this.#command(name, argument);
    } catch (error) {
      this.#options.terminal.note(`${name}: ${(error as Error).message}`);
    }
    return false;
  }

  async #command(name: string, argument: string): Promise<void> {
    const { terminal, view, open } = this.#options;
    if (name === '/save') await this.#save(argument);
    else if (name === '/compare') {
      this.#rival = argument === '' ? undefined : await open(argument);
      terminal.note(this.#rival === undefined ? 'Comparing nothing.' : `Comparing with ${this.#rival.label}.`);
    } else if (name === '/system') {
      this.#system = argument === '' ? undefined : argument;
      terminal.note(this.#system === undefined ? 'No system message.' : 'Set.');
    } else if (name === '/think') {
      view.isThinkingShown = !view.isThinkingShown;
      terminal.note(`Thinking is ${view.isThinkingShown ? 'shown' : 'folded'}.`);
    } else if (name === '/reset') {
      this.#messages = [];
      terminal.note('The conversation is empty.');
    } else terminal.note(HELP);
  }

  async #answer(text: string, signal: AbortSignal): Promise<void> {
    const { terminal, model } = this.#options;
    const question: Message = { role: 'user', content: text };
    const asked = [...this.#messages, question];
    if (this.#rival !== undefined) terminal.print(terminal.style.cyan(`${model.label}:`));
    const answer = await this.#stream(model, asked, signal);
    if (this.#rival !== undefined && !signal.aborted) {
      terminal.print(terminal.style.cyan(`${this.#rival.label}:`));
      await this.#stream(this.#rival, asked, signal);
    }
    // A message without an answer would confuse the next one.
    if (answer !== undefined) this.#messages = [...asked, answer];
  }

  async #stream({ sampler, renderer }: OpenModel, messages: readonly Message[], signal: AbortSignal): Promise<Message | undefined> {
    const { createCompleter } = await import('@tinkex/renderers');
    const { AbortedError } = await import('@tinkex/types');
    const { samplingParams, view, terminal } = this.#options;
    const completer = createCompleter({ sampler, renderer, samplingParams });
    const system: Message[] = this.#system === undefined ? [] : [{ role: 'system', content: this.#system }];
    try {
      return await view.show(completer.stream([...system, ...messages], { signal }));
    } catch (error) {
      if (!AbortedError.isInstance(error)) throw error;
      terminal.note('\n(stopped)');
      return undefined;
    }
  }

  async #save(file: string): Promise<void> {
    const { terminal } = this.#options;
    if (file === '') throw new Error('Name a file: /save chats.jsonl');
    if (this.#messages.length === 0) throw new Error('There is nothing to save yet.');
    const { toOpenAI } = await import('@tinkex/renderers');
    const system: Message[] = this.#system === undefined ? [] : [{ role: 'system', content: this.#system }];
    const conversation = toOpenAI({ messages: [...system, ...this.#messages] });
    await appendFile(file, `${JSON.stringify(conversation)}\n`);
    terminal.note(`Saved ${this.#messages.length} messages to ${file}.`);
  }
}
