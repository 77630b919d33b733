import { Template } from '@huggingface/jinja';
import { ConfigurationError, ValidationError } from '@tinkex/types';
import type { ToolSpec } from '../messages/tool.js';

/** What a template sees besides the messages. */
export interface ChatTemplateVariables {
  readonly tools?: readonly ToolSpec[] | undefined;
  readonly addGenerationPrompt: boolean;
}

/** A chat template, as the `chat_template` of a `tokenizer_config.json` writes it. */
export class ChatTemplate {
  readonly #template: Template;
  readonly #variables: Readonly<Record<string, unknown>>;

  /** @param variables - Seen by the template in every rendering, such as `bos_token` or `enable_thinking`. */
  constructor(source: string, variables: Readonly<Record<string, unknown>>) {
    try {
      this.#template = new Template(source);
    } catch (cause) {
      throw new ConfigurationError({ option: 'chatTemplate', message: `The chat template cannot be parsed: ${messageOf(cause)}`, cause });
    }
    this.#variables = variables;
  }

  /** Throws a `ValidationError` with what the template says where it refuses the messages. */
  render(messages: readonly Readonly<Record<string, unknown>>[], { tools = [], addGenerationPrompt }: ChatTemplateVariables): string {
    const declared = tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: 'function', function: tool })) };
    try {
      return this.#template.render({ ...this.#variables, ...declared, messages, add_generation_prompt: addGenerationPrompt });
    } catch (cause) {
      const issues = [{ path: 'messages', message: `are refused by the chat template: ${messageOf(cause)}` }];
      throw new ValidationError({ direction: 'request', subject: 'conversation', issues, cause });
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
