import { redactText } from '@tinkex/types/wire';
import type { ChatCallback, ChatMessage, ChatRequest } from '../api/chat.js';
import { readJsonObject } from './read-body.js';
import { problemResponse } from './responses.js';

const MAX_BODY_BYTES = 1024 * 1024;
const MAX_SAMPLES = 16;
const MAX_TOKENS = 4_096;
const MAX_MESSAGE = 500;
const ROLES: readonly unknown[] = ['system', 'user', 'assistant'];

/** Samples for the playground. */
export async function answerChat(request: Request, chat: ChatCallback | undefined): Promise<Response> {
  if (chat === undefined) return problemResponse(404, 'This program passes no chat callback to the inspector.');
  const body = await readJsonObject(request, MAX_BODY_BYTES);
  const wanted = body === undefined ? undefined : readChatRequest(body);
  if (wanted === undefined) return problemResponse(400, 'The request needs a model, and messages or a prompt.');
  try {
    return Response.json({ samples: await chat(wanted, { signal: request.signal }) });
  } catch (error) {
    return problemResponse(502, redactText(error instanceof Error ? error.message : String(error), MAX_MESSAGE));
  }
}

function readChatRequest(body: Readonly<Record<string, unknown>>): ChatRequest | undefined {
  const { model, messages, prompt, seed } = body;
  if (typeof model !== 'string' || model === '') return undefined;
  const said = Array.isArray(messages) ? messages.filter(isMessage) : [];
  if (said.length === 0 && typeof prompt !== 'string') return undefined;
  return {
    model,
    messages: said,
    prompt: typeof prompt === 'string' ? prompt : undefined,
    samples: bounded(body['samples'], 1, MAX_SAMPLES),
    maxTokens: bounded(body['maxTokens'], 64, MAX_TOKENS),
    temperature: typeof body['temperature'] === 'number' ? Math.max(0, body['temperature']) : 1,
    seed: typeof seed === 'number' ? seed : undefined,
  };
}

function isMessage(value: unknown): value is ChatMessage {
  const { role, content } = (value ?? {}) as Partial<ChatMessage>;
  return ROLES.includes(role) && typeof content === 'string';
}

function bounded(value: unknown, otherwise: number, max: number): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? Math.min(Math.max(value, 1), max) : otherwise;
}
