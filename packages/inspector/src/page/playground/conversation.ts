import { signal } from '@preact/signals';
import type { ChatMessage, ChatSample } from '../../api/chat.js';
import { source } from '../app/store.js';

/** What one model said to one question. */
export interface Answer {
  readonly model: string;
  readonly samples: readonly ChatSample[];
  readonly error?: string | undefined;
}

/** A question with the answers of all models that were asked. */
export interface Exchange {
  readonly question: string;
  readonly answers: readonly Answer[];
  readonly isOpen: boolean;
}

/** How to ask. */
export interface Settings {
  readonly mode: 'chat' | 'complete';
  readonly samples: number;
  readonly maxTokens: number;
  readonly temperature: number;
}

/** One model, or two side by side. */
export const chosenModels = signal<readonly string[]>([]);

export const settings = signal<Settings>({ mode: 'chat', samples: 1, maxTokens: 64, temperature: 0.7 });

export const conversation = signal<readonly Exchange[]>([]);

/** Asks all chosen models. Each sees its own answers, not those of the other. */
export async function ask(question: string, signal: AbortSignal): Promise<void> {
  const models = chosenModels.value;
  const before = conversation.value;
  conversation.value = [...before, { question, answers: [], isOpen: true }];
  const answers = await Promise.all(models.map((model) => askOne(model, question, before, signal)));
  conversation.value = [...before, { question, answers, isOpen: false }];
}

async function askOne(model: string, question: string, before: readonly Exchange[], signal: AbortSignal): Promise<Answer> {
  const { mode, ...how } = settings.value;
  const messages: ChatMessage[] = mode === 'complete' ? [] : [...historyOf(model, before), { role: 'user', content: question }];
  try {
    const samples = await source.chat({ model, messages, ...(mode === 'complete' ? { prompt: question } : {}), ...how }, signal);
    return { model, samples };
  } catch (error) {
    return { model, samples: [], error: error instanceof Error ? error.message : String(error) };
  }
}

/** The conversation as one model had it. Of several samples, the first one counts. */
function historyOf(model: string, before: readonly Exchange[]): ChatMessage[] {
  return before.flatMap(({ question, answers }): ChatMessage[] => {
    const said = answers.find((answer) => answer.model === model)?.samples[0]?.text;
    return said === undefined
      ? []
      : [
          { role: 'user', content: question },
          { role: 'assistant', content: said },
        ];
  });
}
