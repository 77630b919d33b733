import type { ChatCallback, ChatRequest, ChatSample, ChatToken } from '../api/chat.js';

/** Answers requests of OpenAI's API, such as what `createGateway` of `@tinkex/gateway` returns; or `fetch` itself. */
export type OpenAiHandler = (request: Request) => Promise<Response>;

/** Options of {@link openAiChat}. */
export interface OpenAiChatOptions {
  /** Where the API is, for a handler that sends the request somewhere. Default: a name that only the handler sees. */
  readonly baseUrl?: string | undefined;
  /** Default: none is sent. */
  readonly apiKey?: string | undefined;
  /** How many likely tokens each position shows. Default 5. */
  readonly topLogprobs?: number | undefined;
}

/** As much of an answer as is read here. */
interface Choice {
  readonly text?: string;
  readonly message?: { readonly content?: string | null };
  readonly finish_reason?: string | null;
  readonly logprobs?: {
    readonly content?: readonly { readonly token: string; readonly logprob: number; readonly top_logprobs?: readonly TopToken[] }[] | null;
    readonly tokens?: readonly string[];
    readonly token_logprobs?: readonly (number | null)[];
    readonly top_logprobs?: readonly (Readonly<Record<string, number>> | null)[] | null;
  } | null;
}

interface TopToken {
  readonly token: string;
  readonly logprob: number;
}

/**
 * The playground through an OpenAI-compatible API: chats go to `/v1/chat/completions`, continued texts to `/v1/completions`.
 *
 * @example
 * ```ts
 * import { attachInspector, type OpenAiHandler, openAiChat } from '@tinkex/inspector';
 *
 * // `gateway` is what createGateway({ models: serviceModels(service) }) of @tinkex/gateway returns.
 * export async function watch(gateway: OpenAiHandler) {
 *   return await attachInspector({ chat: openAiChat(gateway) });
 * }
 * ```
 */
export function openAiChat(
  handler: OpenAiHandler,
  { baseUrl = 'http://gateway', apiKey, topLogprobs = 5 }: OpenAiChatOptions = {},
): ChatCallback {
  const authorization = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return async (request, { signal }) => {
    const isText = request.prompt !== undefined;
    const response = await handler(
      new Request(`${baseUrl}/v1/${isText ? '' : 'chat/'}completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...authorization },
        body: JSON.stringify(isText ? textBody(request, topLogprobs) : chatBody(request, topLogprobs)),
        signal,
      }),
    );
    const body = (await response.json()) as { choices?: readonly Choice[]; error?: { message?: string } };
    if (!response.ok) throw new Error(body.error?.message ?? `The model answered with status ${response.status}.`);
    return (body.choices ?? []).map(toSample);
  };
}

function commonBody({ model, samples, maxTokens, temperature, seed }: ChatRequest): object {
  return { model, n: samples, max_tokens: maxTokens, temperature, ...(seed === undefined ? {} : { seed }) };
}

function chatBody(request: ChatRequest, topLogprobs: number): object {
  return { ...commonBody(request), messages: request.messages, logprobs: true, top_logprobs: topLogprobs };
}

function textBody(request: ChatRequest, topLogprobs: number): object {
  return { ...commonBody(request), prompt: request.prompt, logprobs: topLogprobs };
}

function toSample(choice: Choice): ChatSample {
  const { message, text = message?.content ?? '', finish_reason: finishReason, logprobs } = choice;
  return { text, finishReason: finishReason ?? undefined, tokens: tokensOf(logprobs ?? {}) };
}

function tokensOf({
  content,
  tokens,
  token_logprobs: logprobs = [],
  top_logprobs: top,
}: NonNullable<Choice['logprobs']>): ChatToken[] | undefined {
  if (content) {
    return content.map(({ token, logprob, top_logprobs: others = [] }) => ({
      text: token,
      logprob,
      top: others.map((other) => ({ text: other.token, logprob: other.logprob })),
    }));
  }
  return tokens?.map((text, index) => ({
    text,
    logprob: logprobs[index] ?? 0,
    top: Object.entries(top?.[index] ?? {}).map(([other, logprob]) => ({ text: other, logprob })),
  }));
}
