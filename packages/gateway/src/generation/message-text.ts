import type { Message } from '@tinkex/renderers';

/** What a message says, with the text of tool calls that could not be read: nothing the model wrote is lost. */
export function contentText(message: Message): string {
  return saidText(message) + unparsedText(message);
}

function saidText({ content }: Message): string {
  if (typeof content === 'string') return content;
  return content
    .map((part, index) => {
      if (part.type !== 'text') return '';
      return content[index - 1]?.type === 'thinking' ? part.text.replace(/^\n+/, '') : part.text;
    })
    .join('');
}

/** The text of tool calls that could not be read; empty if there are none. */
export function unparsedText({ unparsedToolCalls = [] }: Message): string {
  return unparsedToolCalls.map(({ rawText }) => rawText).join('');
}

/** What a message thinks, without the line breaks at its ends; empty if it does not think. */
export function thinkingText({ content }: Message): string {
  if (typeof content === 'string') return '';
  return content.map((part) => (part.type === 'thinking' ? part.thinking.replace(/^\n+|\n+$/g, '') : '')).join('');
}
