import { type Clock, systemClock } from '@tinkex/http';
import { DEFAULT_PIECE_TOKENS } from '@tinkex/renderers';
import { ConfigurationError } from '@tinkex/types';
import { anthropicError, anthropicStatus } from '../anthropic/anthropic-error.js';
import { countTokens, messages } from '../anthropic/messages.js';
import { listAnthropicModels } from '../anthropic/models.js';
import { type CaptureSink, EPISODE_HEADER } from '../capture/capture.js';
import { GatewayFailure, toFailure } from '../failure.js';
import type { GatewayCall, GatewayContext } from '../generation/gateway-context.js';
import { type GatewayModels, toDirectory } from '../models/gateway-model.js';
import { chatCompletions } from '../openai/chat-completions.js';
import { completions } from '../openai/completions.js';
import { listModels, retrieveModel } from '../openai/models.js';
import { openAiError } from '../openai/openai-error.js';
import { keyCheck } from './api-keys.js';
import { readJson } from './read-json.js';

/** Options of {@link createGateway}. */
export interface GatewayOptions {
  /** The models by the names that requests use, or a directory such as `serviceModels(service)`. */
  readonly models: GatewayModels;
  /** The keys that clients may use. Default: none, and every request is answered. */
  readonly apiKeys?: readonly string[] | undefined;
  /** How many tokens a chat answer may have when the request does not say. Default 4096, or what the context still holds. */
  readonly defaultMaxTokens?: number | undefined;
  /** How many tokens are sampled at a time while streaming; the first time no more than 8. Fewer come sooner, and cost more requests. Default 32. */
  readonly pieceTokens?: number | undefined;
  /** How often an answer is sampled that must call a tool or fit a JSON schema. Default 3. */
  readonly maxAttempts?: number | undefined;
  /** How large a request may be. Default 16 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Receives every exchange with its tokens and log-probabilities. Default: nothing is captured. */
  readonly capture?: CaptureSink | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** Answers requests of OpenAI's and Anthropic's APIs. */
export type Gateway = (request: Request) => Promise<Response>;

const POST_ROUTES: Readonly<Record<string, (call: GatewayCall) => Promise<Response>>> = {
  '/v1/chat/completions': chatCompletions,
  '/v1/completions': completions,
  '/v1/messages': messages,
  '/v1/messages/count_tokens': countTokens,
};

const MODEL_PATH = '/v1/models/';

/**
 * An OpenAI- and Anthropic-compatible API over samplers, as a fetch-style handler for any web framework. {@link startGateway} puts it on a port.
 *
 * Throws a `ConfigurationError` for an invalid option. The handler itself never rejects: every failure is a response in the shape of the API.
 */
export function createGateway(options: GatewayOptions): Gateway {
  const { maxBodyBytes = 16 * 1024 * 1024, clock = systemClock } = options;
  const context: GatewayContext = {
    models: toDirectory(options.models),
    limits: {
      defaultMaxTokens: options.defaultMaxTokens ?? 4096,
      pieceTokens: options.pieceTokens ?? DEFAULT_PIECE_TOKENS,
      maxAttempts: options.maxAttempts ?? 3,
    },
    capture: options.capture,
    createId: (prefix) => `${prefix}${crypto.randomUUID().replaceAll('-', '')}`,
    unixSeconds: () => Math.floor(clock.wallMs() / 1000),
  };
  for (const [option, value] of Object.entries({ ...context.limits, maxBodyBytes })) {
    if (Number.isSafeInteger(value) && value >= 1) continue;
    throw new ConfigurationError({ option, message: `${option} must be a positive whole number, got ${value}.` });
  }
  const checkKey = keyCheck(options.apiKeys);

  async function route(request: Request, path: string): Promise<Response> {
    const { method, headers, signal } = request;
    await checkKey(headers);
    if (method === 'GET' && path === '/v1/models') {
      return headers.has('anthropic-version') ? listAnthropicModels(context) : listModels(context);
    }
    if (method === 'GET' && path.startsWith(MODEL_PATH)) return retrieveModel(context, decodeName(path.slice(MODEL_PATH.length)));
    const answer = Object.hasOwn(POST_ROUTES, path) ? POST_ROUTES[path] : undefined;
    if (answer === undefined || method !== 'POST') {
      throw new GatewayFailure(
        'not_found',
        `There is no ${method} ${path} here. Routes: ${Object.keys(POST_ROUTES).join(', ')}, /v1/models.`,
      );
    }
    const body = await readJson(request, maxBodyBytes);
    return answer({ context, body, signal, episode: headers.get(EPISODE_HEADER) ?? undefined });
  }

  return async (request) => {
    const { pathname } = new URL(request.url);
    try {
      return await route(request, pathname);
    } catch (error) {
      const failure = toFailure(error);
      const { retryAfterMs } = failure;
      const isAnthropic = pathname.startsWith('/v1/messages') || request.headers.has('anthropic-version');
      const headers =
        retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)), 'retry-after-ms': String(retryAfterMs) };
      return isAnthropic
        ? Response.json(anthropicError(failure), { status: anthropicStatus(failure), headers })
        : Response.json(openAiError(failure), { status: failure.status, headers });
    }
  };
}

function decodeName(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch (error) {
    throw new GatewayFailure('invalid_request', 'The name of the model in the path is not percent-encoded correctly.', { cause: error });
  }
}
