import type { Message } from '@tinkex/renderers';

/** What a message says, without thinking and images. */
export function messageText({ content }: Message): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
