import type { Completion, CompletionChoice, CompletionEvent } from '@tinkex/renderers';
import { exchangeOf } from '../capture/capture.js';
import { toFailure } from '../failure.js';
import { eventStreamResponse, withFirst } from '../generation/event-stream.js';
import { type GatewayCall, openGeneration } from '../generation/gateway-context.js';
import { contentText, thinkingText, unparsedText } from '../generation/message-text.js';
import { anthropicError } from './anthropic-error.js';
import { readCountRequest, readMessagesRequest } from './messages-request.js';

/** What an answer needs beside the completion. */
interface Answer {
  readonly id: string;
  readonly model: string;
  readonly promptTokens: number;
  readonly createCallId: () => string;
  readonly capture: (completion: Completion) => Promise<void>;
}

/** `POST /v1/messages` */
export async function messages(call: GatewayCall): Promise<Response> {
  const { context, episode } = call;
  const { generation: request, isStream } = readMessagesRequest(call.body);
  const { model, messages: asked, tools = [] } = request;
  const generation = await openGeneration(call, request);
  const id = context.createId('msg_');
  const answer: Answer = {
    id,
    model,
    promptTokens: generation.promptTokens,
    createCallId: () => context.createId('toolu_'),
    capture: async (completion) => {
      await context.capture?.(exchangeOf({ id, episode, api: 'anthropic', model, messages: asked, tools }, completion));
    },
  };
  if (isStream) return eventStreamResponse(streamEvents(await withFirst(generation.stream()), answer));
  const completion = await generation.complete();
  await answer.capture(completion);
  return Response.json({
    ...emptyMessage(answer),
    content: contentBlocks(completion, answer),
    ...ending(completion),
    usage: usage(answer, completion.usage.completionTokens),
  });
}

/** `POST /v1/messages/count_tokens` */
export async function countTokens(call: GatewayCall): Promise<Response> {
  const { promptTokens } = await openGeneration(call, readCountRequest(call.body));
  return Response.json({ input_tokens: promptTokens });
}

function emptyMessage({ id, model }: Answer) {
  return { id, type: 'message', role: 'assistant', model, content: [] as object[], stop_reason: null, stop_sequence: null };
}

function usage({ promptTokens }: Answer, outputTokens: number) {
  return { input_tokens: promptTokens, output_tokens: outputTokens, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
}

function ending({ finishReason, stopText }: CompletionChoice) {
  if (finishReason === 'length') return { stop_reason: 'max_tokens', stop_sequence: null };
  if (finishReason === 'tool_calls') return { stop_reason: 'tool_use', stop_sequence: null };
  return stopText === undefined
    ? { stop_reason: 'end_turn', stop_sequence: null }
    : { stop_reason: 'stop_sequence', stop_sequence: stopText };
}

function contentBlocks({ message }: CompletionChoice, { createCallId }: Answer): object[] {
  const thinking = thinkingText(message);
  const text = contentText(message);
  return [
    ...(thinking === '' ? [] : [{ type: 'thinking', thinking, signature: '' }]),
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...(message.toolCalls ?? []).map(({ id, function: { name, arguments: args } }) => {
      return { type: 'tool_use', id: id ?? createCallId(), name, input: inputOf(args) };
    }),
  ];
}

/** Arguments as an object. A model may write JSON that is none: the text is kept. */
function inputOf(args: string): object {
  try {
    const input: unknown = JSON.parse(args);
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input;
  } catch {
    // Not JSON: handed over as it is.
  }
  return { raw_arguments: args };
}

type BlockType = 'text' | 'thinking';

/** The answer as server-sent events, in the order that Anthropic's API documents. */
async function* streamEvents(
  events: AsyncGenerator<CompletionEvent, void, undefined>,
  answer: Answer,
): AsyncGenerator<string, void, undefined> {
  let index = -1;
  let open: BlockType | undefined;
  const close = function* (): Generator<string> {
    if (open === 'thinking') yield event('content_block_delta', { index, delta: { type: 'signature_delta', signature: '' } });
    if (open !== undefined) yield event('content_block_stop', { index });
    open = undefined;
  };
  const write = function* (type: BlockType, text: string): Generator<string> {
    if (open !== type) {
      yield* close();
      index += 1;
      open = type;
      const block = type === 'text' ? { type, text: '' } : { type, thinking: '', signature: '' };
      yield event('content_block_start', { index, content_block: block });
    }
    const delta = type === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text };
    yield event('content_block_delta', { index, delta });
  };
  try {
    yield event('message_start', { message: { ...emptyMessage(answer), usage: usage(answer, 0) } });
    for await (const one of events) {
      if (one.type === 'text') yield* write('text', one.text);
      else if (one.type === 'thinking') yield* write('thinking', one.thinking);
      else if (one.type === 'toolCall') {
        yield* close();
        index += 1;
        const { id, function: called } = one.toolCall;
        const block = { type: 'tool_use', id: id ?? answer.createCallId(), name: called.name, input: {} };
        yield event('content_block_start', { index, content_block: block });
        const json = JSON.stringify(inputOf(called.arguments));
        yield event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: json } });
        yield event('content_block_stop', { index });
      } else if (one.type === 'completion') {
        const { completion } = one;
        await answer.capture(completion);
        const unread = unparsedText(completion.message);
        if (unread !== '') yield* write('text', unread);
        yield* close();
        yield event('message_delta', { delta: ending(completion), usage: usage(answer, completion.usage.completionTokens) });
      }
    }
    yield event('message_stop', {});
  } catch (error) {
    yield event('error', anthropicError(toFailure(error)));
  }
}

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}
