import type { Content, ContentPart } from './message.js';

/** Content as a list of parts. */
export function ensureParts(content: Content): readonly ContentPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** The text of content that is text, or a list of one text part. Undefined for anything else. */
export function singleText(content: Content): string | undefined {
  if (typeof content === 'string') return content;
  const [part] = content;
  return content.length === 1 && part?.type === 'text' ? part.text : undefined;
}

/** All text parts, joined. */
export function textOf(content: Content): string {
  return ensureParts(content)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');
}

/** All thinking parts, joined. */
export function thinkingOf(content: Content): string {
  return ensureParts(content)
    .map((part) => (part.type === 'thinking' ? part.thinking : ''))
    .join('');
}

/** Content without its thinking parts. Text stays as it is, whatever tags it contains. */
export function removeThinking(content: Content): Content {
  return typeof content === 'string' ? content : content.filter(({ type }) => type !== 'thinking');
}

/** Whether there is a thinking part, or text with a `<think>` tag. */
export function hasThinking(content: Content): boolean {
  return typeof content === 'string' ? content.includes('<think>') : hasThinkingPart(content);
}

export function hasThinkingPart(content: Content): boolean {
  return typeof content !== 'string' && content.some(({ type }) => type === 'thinking');
}

/** Content as one readable text: thinking as `<think>…</think>`, images as `<image>address</image>`. Undefined for audio. */
export function formatContent(content: Content, separator = '\n'): string | undefined {
  if (typeof content === 'string') return content;
  const texts = content.map((part) => {
    if (part.type === 'text') return part.text;
    if (part.type === 'thinking') return `<think>${part.thinking}</think>`;
    return part.type === 'image' ? `<image>${typeof part.image === 'string' ? part.image : part.image.format}</image>` : undefined;
  });
  return texts.includes(undefined) ? undefined : texts.join(separator);
}
