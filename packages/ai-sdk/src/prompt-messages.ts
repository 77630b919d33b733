import {
  type LanguageModelV3FilePart,
  type LanguageModelV3Message,
  type LanguageModelV3Prompt,
  type LanguageModelV3ToolResultOutput,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider';
import type { ContentPart, Message, ToolCall } from '@tinkex/renderers';

type AssistantPart = Extract<LanguageModelV3Message, { role: 'assistant' }>['content'][number];
type ToolPart = Extract<LanguageModelV3Message, { role: 'tool' }>['content'][number];

/** The messages of a prompt as our own. Throws an `UnsupportedFunctionalityError` for content that no template can write. */
export function promptMessages(prompt: LanguageModelV3Prompt): Message[] {
  return prompt.flatMap((message): Message[] => {
    switch (message.role) {
      case 'system':
        return [{ role: 'system', content: message.content }];
      case 'user':
        return [
          { role: 'user', content: plain(message.content.map((part) => (part.type === 'text' ? textPart(part.text) : imagePart(part)))) },
        ];
      case 'assistant':
        return [assistantMessage(message.content)];
      default:
        return message.content.flatMap(toolMessage);
    }
  });
}

function assistantMessage(parts: readonly AssistantPart[]): Message {
  const content = parts.flatMap((part): ContentPart[] => {
    if (part.type === 'text') return [textPart(part.text)];
    if (part.type === 'reasoning') return [{ type: 'thinking', thinking: part.text }];
    if (part.type === 'tool-call') return [];
    throw new UnsupportedFunctionalityError({ functionality: `a part of type ${part.type} in an assistant message` });
  });
  const toolCalls = parts.flatMap((part): ToolCall[] =>
    part.type === 'tool-call'
      ? [{ type: 'function', id: part.toolCallId, function: { name: part.toolName, arguments: JSON.stringify(part.input) } }]
      : [],
  );
  return { role: 'assistant', content: plain(content), ...(toolCalls.length === 0 ? {} : { toolCalls }) };
}

function toolMessage(part: ToolPart): Message[] {
  // An approval is between the application and its user; the result of the tool follows it.
  if (part.type !== 'tool-result') return [];
  return [{ role: 'tool', toolCallId: part.toolCallId, name: part.toolName, content: outputText(part.output) }];
}

function outputText(output: LanguageModelV3ToolResultOutput): string {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value);
    case 'execution-denied':
      return output.reason ?? 'The execution of the tool was denied.';
    default:
      return output.value
        .map((part) => {
          if (part.type === 'text') return part.text;
          throw new UnsupportedFunctionalityError({ functionality: `a part of type ${part.type} in the result of a tool` });
        })
        .join('\n');
  }
}

function imagePart({ data, mediaType }: LanguageModelV3FilePart): ContentPart {
  if (!mediaType.startsWith('image/')) throw new UnsupportedFunctionalityError({ functionality: `files of type ${mediaType}` });
  if (data instanceof URL) return { type: 'image', image: data.href };
  const base64 = typeof data === 'string' ? data : base64Of(data);
  return { type: 'image', image: `data:${mediaType === 'image/*' ? 'image/png' : mediaType};base64,${base64}` };
}

/** Piece by piece: the number of arguments of a call is limited. */
function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(text);
}

function textPart(text: string): ContentPart {
  return { type: 'text', text };
}

/** A single text without the list around it. */
function plain(parts: readonly ContentPart[]): Message['content'] {
  const [part] = parts;
  return parts.length === 1 && part?.type === 'text' ? part.text : parts.length === 0 ? '' : parts;
}
