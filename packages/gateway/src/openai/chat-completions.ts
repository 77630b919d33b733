import type { Completion, CompletionChoice, CompletionEvent, CompletionUsage, RendererTokenizer, ToolCall } from '@tinkex/renderers';
import { exchangeOf } from '../capture/capture.js';
import { toFailure } from '../failure.js';
import { eventStreamResponse, withFirst } from '../generation/event-stream.js';
import { type GatewayCall, openGeneration } from '../generation/gateway-context.js';
import { contentText, thinkingText, unparsedText } from '../generation/message-text.js';
import { type ChatRequest, readChatRequest } from './chat-request.js';
import { chatLogprobs } from './logprobs.js';
import { openAiError } from './openai-error.js';

/** What an answer needs beside the completion. */
interface Answer {
  readonly head: { readonly id: string; readonly created: number; readonly model: string };
  readonly request: ChatRequest;
  readonly tokenizer: RendererTokenizer;
  readonly createCallId: () => string;
  readonly capture: (completion: Completion) => Promise<void>;
}

/** `POST /v1/chat/completions` */
export async function chatCompletions(call: GatewayCall): Promise<Response> {
  const { context, episode } = call;
  const request = readChatRequest(call.body);
  const { model, messages, tools = [] } = request.generation;
  const generation = await openGeneration(call, request.generation);
  const id = context.createId('chatcmpl-');
  const answer: Answer = {
    head: { id, created: context.unixSeconds(), model },
    request,
    tokenizer: generation.renderer.tokenizer,
    createCallId: () => context.createId('call_'),
    capture: async (completion) => {
      await context.capture?.(exchangeOf({ id, episode, api: 'openai', model, messages, tools }, completion));
    },
  };
  if (request.isStream) return eventStreamResponse(chunks(await withFirst(generation.stream()), answer));
  const completion = await generation.complete();
  await answer.capture(completion);
  return Response.json({
    ...answer.head,
    object: 'chat.completion',
    choices: completion.choices.map((choice, index) => encodeChoice(choice, index, answer)),
    usage: encodeUsage(completion.usage),
  });
}

function encodeChoice(choice: CompletionChoice, index: number, { request, tokenizer, createCallId }: Answer) {
  const { message, finishReason } = choice;
  const text = contentText(message);
  const thinking = thinkingText(message);
  const calls = (message.toolCalls ?? []).map((call) => encodeToolCall(call, createCallId));
  return {
    index,
    message: {
      role: 'assistant',
      content: text === '' && calls.length > 0 ? null : text,
      refusal: null,
      ...(thinking === '' ? {} : { reasoning_content: thinking }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
    logprobs: request.hasLogprobs ? chatLogprobs(tokenizer, choice) : null,
    finish_reason: finishReason,
  };
}

/** The answer as chunks, each one a server-sent event. */
async function* chunks(events: AsyncGenerator<CompletionEvent, void, undefined>, answer: Answer): AsyncGenerator<string, void, undefined> {
  const { head, request } = answer;
  const { includesUsage, generation } = request;
  const write = (choices: readonly object[], usage: object | null = null): string =>
    data({ ...head, object: 'chat.completion.chunk', choices, ...(includesUsage ? { usage } : {}) });
  const encodeDelta = deltaEncoder(answer);
  try {
    for (let index = 0; index < generation.numSamples; index += 1) {
      yield write([chunkChoice(index, { delta: { role: 'assistant', content: '', refusal: null } })]);
    }
    for await (const event of events) {
      if (event.type !== 'completion') {
        const fields = encodeDelta(event);
        if (fields !== undefined) yield write([chunkChoice(event.sample, fields)]);
        continue;
      }
      await answer.capture(event.completion);
      for (const [index, { message, finishReason }] of event.completion.choices.entries()) {
        const unread = unparsedText(message);
        if (unread !== '') yield write([chunkChoice(index, { delta: { content: unread } })]);
        yield write([chunkChoice(index, { delta: {}, finish_reason: finishReason })]);
      }
      if (includesUsage) yield write([], encodeUsage(event.completion.usage));
    }
    yield 'data: [DONE]\n\n';
  } catch (error) {
    yield data(openAiError(toFailure(error)));
  }
}

/** What an event adds to its choice; undefined if nothing. Counts the tool calls of each choice. */
function deltaEncoder({
  request,
  tokenizer,
  createCallId,
}: Answer): (event: Exclude<CompletionEvent, { type: 'completion' }>) => object | undefined {
  const calls = new Map<number, number>();
  return (event) => {
    if (event.type === 'tokens') {
      return request.hasLogprobs && event.tokens.length > 0 ? { delta: {}, logprobs: chatLogprobs(tokenizer, event) } : undefined;
    }
    if (event.type === 'text') return { delta: { content: event.text } };
    if (event.type === 'thinking') return { delta: { reasoning_content: event.thinking } };
    if (event.type !== 'toolCall') return undefined;
    const index = calls.get(event.sample) ?? 0;
    calls.set(event.sample, index + 1);
    return { delta: { tool_calls: [{ index, ...encodeToolCall(event.toolCall, createCallId) }] } };
  };
}

function chunkChoice(index: number, fields: object) {
  return { index, delta: {}, logprobs: null, finish_reason: null, ...fields };
}

function data(json: object): string {
  return `data: ${JSON.stringify(json)}\n\n`;
}

function encodeToolCall({ id, function: called }: ToolCall, createCallId: () => string) {
  return { id: id ?? createCallId(), type: 'function', function: { name: called.name, arguments: called.arguments } };
}

/** Token counts as OpenAI writes them. */
export function encodeUsage({ promptTokens, completionTokens }: CompletionUsage) {
  return { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: promptTokens + completionTokens };
}
