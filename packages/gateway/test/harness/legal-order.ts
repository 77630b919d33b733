import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { expect } from 'vitest';

/** Fails unless OpenAI's API could send these chunks: per choice the role first, then what it says, then one reason to end; usage only at the very end. */
export function expectLegalChunks(chunks: readonly OpenAI.ChatCompletionChunk[]): void {
  const states = new Map<number, 'open' | 'finished'>();
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  for (const [place, { choices, usage }] of chunks.entries()) {
    if (usage) expect([place, choices]).toEqual([chunks.length - 1, []]);
    for (const { index, delta, finish_reason: reason } of choices) {
      if (delta.role !== undefined) {
        expect(states.has(index)).toBe(false);
        states.set(index, 'open');
      } else expect(states.get(index)).toBe('open');
      if (reason !== null) states.set(index, 'finished');
    }
  }
  expect([...states.values()].every((state) => state === 'finished')).toBe(true);
}

/** Fails unless Anthropic's API could send these events: one message, whose blocks are numbered, opened, filled and closed one after the other. */
export function expectLegalEvents(events: readonly Anthropic.RawMessageStreamEvent[]): void {
  const types = events.map(({ type }) => type);
  expect([types[0], ...types.slice(-2)]).toEqual(['message_start', 'message_delta', 'message_stop']);
  let open: string | undefined;
  let next = 0;
  for (const event of events.slice(1, -2)) {
    if (event.type === 'content_block_start') {
      expect([open, event.index]).toEqual([undefined, next]);
      open = event.content_block.type;
    } else if (event.type === 'content_block_delta') {
      const kinds = { text: ['text_delta'], thinking: ['thinking_delta', 'signature_delta'], tool_use: ['input_json_delta'] };
      expect([event.index, kinds[open as keyof typeof kinds]?.includes(event.delta.type)]).toEqual([next, true]);
    } else {
      expect([event.type, open === undefined]).toEqual(['content_block_stop', false]);
      open = undefined;
      next += 1;
    }
  }
  expect(open).toBeUndefined();
}

/** The data of server-sent events. */
export function eventData(text: string): string[] {
  return text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice('data: '.length)] : []));
}
